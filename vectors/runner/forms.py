"""Names, ids, times, base64url and JSON, as docs/protocol/conventions.md has them."""

import base64
import binascii
import hashlib
import json
import math
import re
from typing import Any

import idna

LAST_TIME = 99_999_999_999
MOST_LEVELS = 64
FILE_PREFIXES = {"BLOB": "b1", "CRDT": "f1", "RTDB": "r1", "FLDR": "d1"}
VARIANTS = ("tn", "ic", "sd", "hd", "orig")


class Malformed(Exception):
    """What was given has not the form that it must have."""


def demand(holds: bool, what: str) -> None:
    if not holds:
        raise Malformed(what)


def decode64(text: str) -> bytes:
    """The bytes of base64url without padding, of which there is one spelling."""
    demand(re.fullmatch(r"[A-Za-z0-9_-]*", text) is not None, "no base64url")
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as error:
        raise Malformed("no base64url") from error
    demand(encode64(data) == text, "another spelling of base64url")
    return data


def encode64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode("ascii").rstrip("=")


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and has_bytes(value, 32)


def has_bytes(text: str, count: int) -> bool:
    try:
        return len(decode64(text)) == count
    except Malformed:
        return False


def is_text(value: Any, least: int, most: int) -> bool:
    """Lengths are counted in code points, of which a Python text consists."""
    return isinstance(value, str) and least <= len(value) <= most


def is_whole(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def is_time(value: Any) -> bool:
    return is_whole(value) and 0 <= value <= LAST_TIME


def is_kid(value: Any) -> bool:
    return (
        isinstance(value, str)
        and re.fullmatch(r"[A-Za-z0-9_-]{1,64}", value) is not None
    )


def is_identity(value: Any) -> bool:
    """An identity in its canonical form."""
    if not is_text(value, 3, 253):
        return False
    labels = value.split(".")
    label = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    if len(labels) < 2 or not all(re.fullmatch(label, it) for it in labels):
        return False
    return re.fullmatch(r"[0-9]+|0x[0-9a-f]*", labels[-1]) is None


def identity_of(text: str) -> str:
    """The canonical form of what a person types (UTS 46, as browsers do it)."""
    try:
        mapped = idna.uts46_remap(text, std3_rules=False, transitional=False)
        name = ".".join(a_label(label) for label in mapped.split("."))
    except (idna.IDNAError, UnicodeError) as error:
        raise Malformed("no name") from error
    demand(is_identity(name), "no identity")
    return name


def a_label(label: str) -> str:
    """The A-label of one that is mapped. Hyphens may stand anywhere within: browsers do not look."""
    if not label.isascii():
        return "xn--" + label.encode("punycode").decode("ascii")
    if label.startswith("xn--"):
        plain = label[4:].encode("ascii").decode("punycode")
        mapped = idna.uts46_remap(plain, std3_rules=False, transitional=False)
        demand(mapped == plain and a_label(plain) == label, "no A-label")
    return label


def is_action_id(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("a1~") and is_hash(value[3:])


def action_id(issuer_tag: str, nonce: str) -> str:
    return "a1~" + encode64(sha256(f"{issuer_tag}\n{nonce}".encode()))


def file_type(value: Any) -> str | None:
    """The type of the file that an id is of, if it is one."""
    if isinstance(value, str) and is_hash(value[3:]):
        for name, prefix in FILE_PREFIXES.items():
            if value.startswith(prefix + "~"):
                return name
    return None


def variant_of(text: str) -> tuple[str, str]:
    """The file and the variant that the id of a variant names."""
    file_id, _, variant = text.rpartition("~")
    demand(file_type(file_id) is not None and variant in VARIANTS, "no variant")
    return file_id, variant


def is_reference(value: str) -> bool:
    return re.fullmatch(r"[0-9A-Za-z]{24}", value) is not None


def parse_json(data: bytes) -> Any:
    """JSON by the rules of the page, of whose members that stand twice the last counts."""
    value = parse_document(data)
    demand(all(map(is_sound, texts_in(value))), "U+0000 or half a character")
    return value


def parse_document(data: bytes) -> Any:
    """JSON as it may come in answers of others, of whose texts the page says nothing."""
    try:
        text = data.decode("utf-8")
        demand(levels(text) <= MOST_LEVELS, "nested too deep")
        return json.loads(
            text, parse_int=whole, parse_float=double, parse_constant=no_number
        )
    except ValueError as error:
        raise Malformed("no JSON") from error


def levels(text: str) -> int:
    """How deep arrays and objects are nested, told before any parser is called."""
    deepest = depth = 0
    for sign in re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(sign, 0)
        deepest = max(deepest, depth)
    return deepest


def whole(text: str) -> int:
    double(text)
    return int(text)


def double(text: str) -> float:
    value = float(text)
    demand(math.isfinite(value), "a number that no double holds")
    return value


def no_number(text: str) -> Any:
    raise Malformed(f"{text} is no JSON")


def texts_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    if isinstance(value, dict):
        return [
            text for pair in value.items() for item in pair for text in texts_in(item)
        ]
    return []


def is_sound(text: str) -> bool:
    return re.search("[\x00\ud800-\udfff]", text) is None
