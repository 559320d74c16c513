"""Action tokens, proxy tokens and logout tokens: docs/protocol/action-tokens.md and proxy-tokens.md."""

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

    def __init__(self, reason: str | None, what: str) -> None:
        super().__init__(what)
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
    header: Members
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
    """A token that can be read, whatever it says."""
    demand(len(text) <= most, "too long")
    parts = text.split(".")
    demand(len(parts) == 3 and all(parts), "not three parts")
    head, body, signature = map(decode64, parts)
    header, payload = parse_json(head), parse_json(body)
    demand(isinstance(header, dict) and isinstance(payload, dict), "no object")
    return Token(f"{parts[0]}.{parts[1]}", header, payload, signature)


def check_header(header: Members) -> None:
    if header.get("alg") != "ES384":
        raise Refused("bad-signature", "another algorithm")
    demand(set(header) <= {"alg", "typ", "kid"}, "another member of the header")
    demand(header.get("typ") == "JWT", "no typ")
    demand(is_kid(header.get("kid")), "no kid")


def check_signature(token: Token, issuer: str, iat: int, issuers: Issuers) -> None:
    key = find_key(token, issuer, iat, issuers)
    if not is_signed(key, token.signed, token.signature):
        raise Refused("bad-signature", "not signed with this key")


def find_key(token: Token, issuer: str, iat: int, issuers: Issuers) -> PublicKey:
    """The key that the token names, if it was in force when the token was signed."""
    if issuer not in issuers:
        raise Refused("unknown-issuer", "an issuer that is not found")
    key = issuers[issuer].get(token.header["kid"])
    if key is None:
        raise Refused("key-unavailable", "a key that the issuer has not")
    is_retired = key.expires_at is not None and iat > key.expires_at
    if is_retired or (key.revoked_at is not None and iat >= key.revoked_at):
        raise Refused("revoked", "a key that had ended")
    return key.key


def judge_action(text: str, now: int, issuers: Issuers) -> Members:
    """The payload of an action token that is valid."""
    try:
        token = check_action(text, now)
        announced = announced_in(token.payload, now)
    except Malformed as error:
        raise Refused("malformed", str(error)) from error
    for it in (token, announced):
        if it is not None:
            check_signature(it, it.payload["issuerTag"], it.payload["iat"], issuers)
    return token.payload


def check_action(text: str, now: int) -> Token:
    token = open_token(text, MOST_CHARACTERS)
    check_header(token.header)
    payload = token.payload
    wrong = wrong_members(payload)
    demand(not wrong, f"not as they have to be: {', '.join(wrong)}")
    check_id(payload)
    for fault in time_faults(payload, now):
        raise fault
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


def is_object(value: Any) -> bool:
    return isinstance(value, dict)


REQUIRED = ("actionId", "nonce", "issuerTag", "type", "createdAt", "iat", "exp")
FORMS: dict[str, Callable[[Any], bool]] = {
    "actionId": is_action_id,
    "nonce": is_nonce,
    "issuerTag": is_identity,
    "type": lambda it: is_text(it, 1, 16),
    "subType": is_code,
    "content": is_object,
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
    "flags": is_code,
    "x": is_object,
    "createdAt": is_time,
    "iat": is_time,
    "expiresAt": is_time,
    "exp": is_time,
}


def wrong_forms(members: Members) -> list[str]:
    return [it for it in members if it in FORMS and not FORMS[it](members[it])]


def wrong_members(payload: Members) -> list[str]:
    """The members that are missing or have not their form."""
    return [it for it in REQUIRED if it not in payload] + wrong_forms(payload)


def check_id(payload: Members) -> None:
    expected = action_id(payload["issuerTag"], payload["nonce"])
    demand(payload["actionId"] == expected, "another action id")


def time_faults(payload: Members, now: int) -> list[Refused]:
    """What is wrong with the times of an action; the first decides."""
    iat, exp, expires_at = payload["iat"], payload["exp"], payload.get("expiresAt")
    lifetime = LIFETIMES.get(payload["type"], TEN_YEARS)
    spare = LEAP_DAYS if lifetime == TEN_YEARS else 0
    if expires_at is None:
        is_end_wrong, end_fault = exp > iat + lifetime + spare, "ends too late"
    else:
        is_end_wrong, end_fault = exp != expires_at, "exp is not expiresAt"
    checks = (
        (exp <= now, "expired", "over"),
        (iat + lifetime + spare <= now, "expired", "too old"),
        (exp <= iat, "malformed", "over before it was signed"),
        (is_end_wrong, "malformed", end_fault),
        (iat > now + AHEAD, None, "signed ahead of the clock"),
    )
    return [Refused(reason, what) for is_wrong, reason, what in checks if is_wrong]


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


@dataclass(frozen=True)
class Host:
    """Where a proxy token or a logout token is shown."""

    audience: str
    now: int
    issuers: Issuers


def judge_identity_token(text: str, use: str, host: Host) -> Members:
    """The claims of a proxy token or a logout token that is valid."""
    try:
        token = open_token(text, MOST_OF_PROXY)
        check_header(token.header)
    except Malformed as error:
        raise Refused("malformed", str(error)) from error
    for fault in claim_faults(token.payload, use, host):
        raise fault
    check_signature(token, token.payload["iss"], token.payload["iat"], host.issuers)
    return token.payload


def claim_faults(claims: Members, use: str, host: Host) -> list[Refused]:
    """What is wrong with the claims; the first decides."""
    wrong = [it for it, is_form in CLAIMS.items() if not is_form(claims.get(it))]
    if claims.get("use") != use:
        wrong.append("use")
    if use == "logout":
        wrong += wrong_ends(claims, host.now)
    faults = [Refused("malformed", f"{it} is not as it has to be") for it in wrong]
    if "iat" not in wrong and "exp" not in wrong:
        faults += claimed_time_faults(claims, host.now)
    if claims.get("aud") != host.audience or claims.get("iss") == host.audience:
        faults.append(Refused("wrong-tenant", "for another host"))
    return faults


def is_jti(value: Any) -> bool:
    form = r"[A-Za-z0-9._~-]{8,128}"
    return isinstance(value, str) and re.fullmatch(form, value) is not None


CLAIMS: dict[str, Callable[[Any], bool]] = {
    "iss": is_identity,
    "jti": is_jti,
    "iat": is_time,
    "exp": is_time,
}


def wrong_ends(claims: Members, now: int) -> list[str]:
    """The claims that say what a logout ends, if they have not their form."""
    is_before = "before" not in claims or (
        is_time(claims["before"]) and claims["before"] <= now + AHEAD
    )
    is_sid = "sid" not in claims or is_text(claims["sid"], 1, 64)
    return [it for it, holds in (("sid", is_sid), ("before", is_before)) if not holds]


def claimed_time_faults(claims: Members, now: int) -> list[Refused]:
    iat, exp = claims["iat"], claims["exp"]
    checks = (
        (exp <= now, "expired", "over"),
        (exp <= iat, "malformed", "over before it was made"),
        (exp > iat + 3600, "malformed", "good for too long"),
        (iat > now + AHEAD, "malformed", "made ahead of the clock"),
    )
    return [Refused(reason, what) for is_wrong, reason, what in checks if is_wrong]


def ends(claims: Members) -> Members:
    """What a logout token ends: a session, or all up to a time."""
    if "sid" in claims:
        return {"sid": claims["sid"]}
    return {"before": claims.get("before", claims["iat"])}
