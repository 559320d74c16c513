"""P-384 keys and ES384 signatures."""

import hashlib
import re
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from .forms import Malformed, demand

PublicKey = ec.EllipticCurvePublicKey


def load_key(pem: Any) -> PublicKey:
    """A key that is PEM with one block `PUBLIC KEY` and nothing else."""
    frame = (
        r"-----BEGIN PUBLIC KEY-----\r?\n[A-Za-z0-9+/=\r\n]+-----END PUBLIC KEY-----\s*"
    )
    demand(isinstance(pem, str) and re.fullmatch(frame, pem) is not None, "no PEM")
    try:
        key = load_pem_public_key(pem.encode("ascii"))
    except Exception as error:  # The library tells unsound keys in many ways.
        raise Malformed("no key") from error
    if not isinstance(key, PublicKey) or not isinstance(key.curve, ec.SECP384R1):
        raise Malformed("no P-384")
    return key


def vector_key(kid: str) -> PublicKey:
    """The public half of the key that a `kid` has in the vectors."""
    secret = hashlib.sha384(f"kith vectors: {kid}".encode()).digest()
    number = int.from_bytes(secret, "big")
    return ec.derive_private_key(number, ec.SECP384R1()).public_key()


def numbers(key: PublicKey) -> tuple[int, int]:
    """By which keys are compared."""
    return key.public_numbers().x, key.public_numbers().y


def is_signed(key: PublicKey, text: str, signature: bytes) -> bool:
    """Whether this is the signature r ‖ s of the text."""
    if len(signature) != 96:
        return False
    r, s = (int.from_bytes(half, "big") for half in (signature[:48], signature[48:]))
    try:
        der = utils.encode_dss_signature(r, s)
        key.verify(der, text.encode("ascii"), ec.ECDSA(SHA384()))
    except InvalidSignature:
        return False
    return True
