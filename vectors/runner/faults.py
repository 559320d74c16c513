"""All that is wrong with a token, so that one that is refused is refused for what its name says alone."""

from collections.abc import Callable
from typing import Any

from .actions import TYPES, fits_type
from .forms import Malformed, is_kid
from .keys import is_signed, vector_key
from .tokens import (
    CLAIMS,
    FORMS,
    MOST_CHARACTERS,
    MOST_OF_PROXY,
    Host,
    Issuers,
    Members,
    Refused,
    Token,
    announced_in,
    check_header,
    check_id,
    check_signature,
    find_key,
    claim_faults,
    open_token,
    time_faults,
    wrong_members,
)


def fault_in(check: Callable[[], Any]) -> list[str]:
    try:
        check()
        return []
    except (Malformed, Refused) as fault:
        return [str(fault)]


def action_faults(text: str, now: int, issuers: Issuers) -> list[str]:
    """Each fault for itself. What cannot be read has that one, and what follows from a fault is none."""
    try:
        token = open_token(text, MOST_CHARACTERS)
    except Malformed as fault:
        return [str(fault)]
    payload = token.payload
    wrong = wrong_members(payload)
    if payload.get("expiresAt") == payload.get("exp") and "expiresAt" in wrong:
        wrong.remove("exp")
    found = wrong + fault_in(lambda: check_header(token.header))
    if "actionId" not in wrong and all_texts(payload, "issuerTag", "nonce"):
        found += fault_in(lambda: check_id(payload))
    if not {"type", "iat", "exp", "expiresAt"} & set(wrong):
        found += map(str, time_faults(payload, now))
    if not wrong and payload["type"] in TYPES and not fits_type(payload):
        found.append("its type refuses it")
    if not wrong:
        found += fault_in(lambda: check_announced(payload, now, issuers))
    return found + signature_faults(token, "issuerTag", FORMS, issuers)


def all_texts(payload: Members, *names: str) -> bool:
    return all(isinstance(payload.get(name), str) for name in names)


def check_announced(payload: Members, now: int, issuers: Issuers) -> None:
    announced = announced_in(payload, now)
    if announced is not None:
        inner = announced.payload
        check_signature(announced, inner["issuerTag"], inner["iat"], issuers)


def identity_token_faults(text: str, use: str, host: Host) -> list[str]:
    try:
        token = open_token(text, MOST_OF_PROXY)
    except Malformed as fault:
        return [str(fault)]
    found = fault_in(lambda: check_header(token.header))
    found += map(str, claim_faults(token.payload, use, host))
    if token.payload.get("iss") == host.audience:
        return found
    return found + signature_faults(token, "iss", CLAIMS, host.issuers)


def signature_faults(
    token: Token,
    name: str,
    forms: dict[str, Callable[[Any], bool]],
    issuers: Issuers,
) -> list[str]:
    """A token of which more is wrong is signed too, with the key that its `kid` has in the vectors."""
    kid: Any = token.header.get("kid")
    issuer: Any = token.payload.get(name)
    iat: Any = token.payload.get("iat")
    if token.header.get("alg") != "ES384" or not is_kid(kid):
        return []
    is_its = is_signed(vector_key(kid), token.signed, token.signature)
    found = [] if is_its else ["not signed with this key"]
    if forms[name](issuer) and forms["iat"](iat):
        found += fault_in(lambda: find_key(token, issuer, iat, issuers))
    return found
