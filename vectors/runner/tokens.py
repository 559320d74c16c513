"""Action tokens, proxy tokens and logout tokens: docs/protocol/action-tokens.md and proxy-tokens.md."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .forms import (
    Malformed,
    action_id,
    decode64,
    demand,
    file_type,
    has_bytes,
    is_action_id,
    is_hash,
    is_identity,
    is_kid,
    is_text,
    is_time,
    parse_json,
)
from .keys import PublicKey, is_signed, load_key

Members = dict[str, Any]

DAY = 86_400
TEN_YEARS = 315_360_000
LEAP_DAYS = 3 * DAY
AHEAD = 300
LIFETIMES = {"STAT": 7 * DAY, "ANNC": 60 * DAY}
MOST_CHARACTERS = 262_144
MOST_OF_PROXY = 4096


class Refused(Exception):
    """A token is refused, with a reason; without one it may come again."""

    def __init__(self, reason: str | None) -> None:
        super().__init__(reason or "come again")
        self.reason = reason

    @property
    def error(self) -> str:
        if self.reason is None:
            return "E-UNAVAILABLE"
        before = self.reason in ("malformed", "expired")
        return "E-VALIDATION" if before else "E-AUTH-UNAUTH"


@dataclass(frozen=True)
class Key:
    key: PublicKey
    expires_at: int | None
    revoked_at: int | None


Issuers = dict[str, dict[str, Key]]


@dataclass(frozen=True)
class Token:
    signed: str
    kid: str
    payload: Members
    signature: bytes


def issuers_of(listed: list[Members]) -> Issuers:
    """The keys of those that the receiver knows."""
    return {issuer["idTag"]: keys_of(issuer["keys"]) for issuer in listed}


def keys_of(listed: list[Members]) -> dict[str, Key]:
    return {
        it["kid"]: Key(
            load_key(it["publicKey"]), it.get("expiresAt"), it.get("revokedAt")
        )
        for it in listed
    }


def open_token(text: str, most: int) -> Token:
    """The form and the header."""
    demand(len(text) <= most, "too long")
    parts = text.split(".")
    demand(len(parts) == 3 and all(parts), "not three parts")
    head, body, signature = map(decode64, parts)
    header, payload = parse_json(head), parse_json(body)
    demand(isinstance(header, dict) and isinstance(payload, dict), "no object")
    demand(set(header) <= {"alg", "typ", "kid"}, "another member of the header")
    demand(header.get("typ") == "JWT" and is_kid(header.get("kid")), "no typ or kid")
    if header.get("alg") != "ES384":
        raise Refused("bad-signature")
    return Token(f"{parts[0]}.{parts[1]}", header["kid"], payload, signature)


def check_signature(token: Token, issuer: str, iat: int, issuers: Issuers) -> None:
    if issuer not in issuers:
        raise Refused("unknown-issuer")
    key = issuers[issuer].get(token.kid)
    if key is None:
        raise Refused("key-unavailable")
    is_retired = key.expires_at is not None and iat > key.expires_at
    if is_retired or (key.revoked_at is not None and iat >= key.revoked_at):
        raise Refused("revoked")
    if not is_signed(key.key, token.signed, token.signature):
        raise Refused("bad-signature")


def judge_action(text: str, now: int, issuers: Issuers) -> Members:
    """The payload of an action token that is valid."""
    try:
        token = check_action(text, now)
        announced = announced_in(token.payload, now)
    except Malformed as error:
        raise Refused("malformed") from error
    for it in (token, announced):
        if it is not None:
            check_signature(it, it.payload["issuerTag"], it.payload["iat"], issuers)
    return token.payload


def check_action(text: str, now: int) -> Token:
    token = open_token(text, MOST_CHARACTERS)
    payload = token.payload
    check_members(payload)
    expected = action_id(payload["issuerTag"], payload["nonce"])
    demand(payload["actionId"] == expected, "another action id")
    check_times(payload, now)
    return token


def list_of(most: int, is_item: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, list) and len(value) <= most and all(map(is_item, value))
    )


def is_file_id(value: Any) -> bool:
    return file_type(value) is not None


def is_nonce(value: Any) -> bool:
    return is_text(value, 22, 22) and has_bytes(value, 16)


def is_code(value: Any) -> bool:
    return is_text(value, 0, 32)


def is_flags(value: Any) -> bool:
    return is_code(value) and re.search("[\x00-\x1f\x7f-\x9f]", value) is None


def is_small_object(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode()) <= 16_384


REQUIRED = ("actionId", "nonce", "issuerTag", "type", "createdAt", "iat", "exp")
FORMS: dict[str, Callable[[Any], bool]] = {
    "actionId": is_action_id,
    "nonce": is_nonce,
    "issuerTag": is_identity,
    "type": lambda it: is_text(it, 1, 16),
    "subType": is_code,
    "content": lambda it: isinstance(it, dict),
    "attachments": list_of(50, is_file_id),
    "subject": lambda it: is_text(it, 0, 300),
    "parentId": is_action_id,
    "rootId": is_action_id,
    "subjectHash": is_hash,
    "parentHash": is_hash,
    "rootHash": is_hash,
    "audienceTag": is_identity,
    "audience": list_of(100, is_identity),
    "visibility": lambda it: it in ("P", "V", "F", "C"),
    "flags": is_flags,
    "x": is_small_object,
    "createdAt": is_time,
    "iat": is_time,
    "expiresAt": is_time,
    "exp": is_time,
}


def check_forms(members: Members) -> None:
    for name, value in members.items():
        demand(name not in FORMS or FORMS[name](value), f"{name} has not its form")


def check_members(payload: Members) -> None:
    for name in REQUIRED:
        demand(name in payload, f"no {name}")
    check_forms(payload)


def check_times(payload: Members, now: int) -> None:
    iat, exp, expires_at = payload["iat"], payload["exp"], payload.get("expiresAt")
    if iat > now + AHEAD:
        raise Refused(None)
    lifetime = LIFETIMES.get(payload["type"], TEN_YEARS)
    if exp <= now or iat + lifetime < now:
        raise Refused("expired")
    demand(exp > iat, "ends before it was signed")
    if expires_at is not None:
        demand(exp == expires_at, "exp is not expiresAt")
    else:
        spare = LEAP_DAYS if lifetime == TEN_YEARS else 0
        demand(exp <= iat + lifetime + spare, "ends too late")


def announced_in(payload: Members, now: int) -> Token | None:
    """The token that an announcement passes on; none can stand beside it here."""
    if payload["type"] != "ANNC" or payload.get("subType") == "DEL":
        return None
    text = payload.get("content", {}).get("token")
    demand(isinstance(text, str), "no announced token")
    token = check_action(text, now)
    inner = token.payload
    demand(inner["type"] != "ANNC", "announces an announcement")
    demand(inner["actionId"] == payload.get("subject"), "announces another action")
    addressed = [inner.get("audienceTag"), *inner.get("audience", [])]
    demand(
        inner["type"] == "CMNT" or payload["issuerTag"] in addressed,
        "announces what was given to others",
    )
    return token


def judge_identity_token(
    text: str, use: str, now: int, audience: str, issuers: Issuers
) -> Members:
    """The claims of a proxy token or a logout token that is valid."""
    try:
        token = open_token(text, MOST_OF_PROXY)
        check_claims(token.payload, use, now)
    except Malformed as error:
        raise Refused("malformed") from error
    issuer = token.payload["iss"]
    if token.payload.get("aud") != audience or issuer == audience:
        raise Refused("wrong-tenant")
    check_signature(token, issuer, token.payload["iat"], issuers)
    return token.payload


def check_claims(claims: Members, use: str, now: int) -> None:
    jti = claims.get("jti")
    demand(claims.get("use") == use, "for another use")
    demand(is_identity(claims.get("iss")), "of nobody")
    is_name = isinstance(jti, str) and re.fullmatch(r"[A-Za-z0-9._~-]{8,128}", jti)
    demand(bool(is_name), "no jti")
    demand(is_time(claims.get("iat")) and is_time(claims.get("exp")), "no times")
    iat, exp = claims["iat"], claims["exp"]
    if exp <= now:
        raise Refused("expired")
    demand(iat < exp <= iat + 3600 and iat <= now + AHEAD, "times that cannot be")
    if use == "logout":
        demand("sid" not in claims or is_text(claims["sid"], 1, 64), "no sid")
        before = claims["before"] if "before" in claims else iat
        demand(is_time(before) and before <= now + AHEAD, "no before")


def ends(claims: Members) -> Members:
    """What a logout token ends: a session, or all up to a time."""
    if "sid" in claims:
        return {"sid": claims["sid"]}
    return {"before": claims.get("before", claims["iat"])}
