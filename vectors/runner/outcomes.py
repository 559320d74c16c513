"""What becomes of valid tokens at a person who follows their issuers: docs/protocol/actions.md."""

from typing import Any

from .actions import ENDING, TYPES, fits_type
from .forms import encode64, is_action_id, sha256
from .tokens import Members

# What of an issuer stands alone, and by which members it is one of a kind.
KINDS: dict[str, tuple[str, ...]] = {
    "FLLW": ("audienceTag",),
    "CONN": ("audienceTag",),
    "REACT": ("subject",),
    "REPOST": ("subject",),
    "FSHR": ("subject", "audienceTag"),
}
WAITING = ("CONN", "FSHR", "INVT")
BETWEEN_SERVERS = ("STAT", "ANNC")


def statuses(payloads: list[Members]) -> list[str | None]:
    return [status(it, payloads) for it in payloads]


def status(action: Members, beside: list[Members]) -> str | None:
    """The status that an action has once all are there, in whatever order they came."""
    name = action["type"]
    if name not in TYPES or name in BETWEEN_SERVERS or is_mere_deletion(action):
        return None
    if not fits_type(action):
        return "D"
    if any(deletes(other, action) for other in beside):
        return "D"
    if any(same_kind(action, it) and rank(it) > rank(action) for it in beside):
        return "D"
    is_end = action.get("subType") == "DEL"
    return "C" if name in WAITING and not is_end else "A"


def is_mere_deletion(action: Members) -> bool:
    return (
        action.get("subType") == "DEL" and TYPES[action["type"]].sub_types is not ENDING
    )


def deletes(one: Members, other: Members) -> bool:
    return (
        one.get("subType") == "DEL"
        and is_action_id(one.get("subject"))
        and one["subject"] == other["actionId"]
        and all(one[it] == other[it] for it in ("type", "issuerTag"))
    )


def same_kind(one: Members, other: Members) -> bool:
    if one["type"] != other["type"] or one["type"] not in KINDS:
        return False
    names = ("issuerTag", *KINDS[one["type"]])
    return not is_mere_deletion(other) and all(
        one.get(it) == other.get(it) for it in names
    )


def rank(action: Members) -> tuple[int, bool, str]:
    """The later one stands; of one second the one that ends, else the larger id."""
    return action["iat"], action.get("subType") == "DEL", action["actionId"]


def is_mismatched(action: Members, held: dict[str, str]) -> bool:
    """Whether it means another token than the one that is held under the id that it names."""
    named = (("subject", "subjectHash"), ("parentId", "parentHash"))
    return any(differs(action, held, *it) for it in named)


def differs(action: Members, held: dict[str, str], name: str, hash_name: str) -> bool:
    text: Any = held.get(action.get(name, ""))
    if text is None or hash_name not in action:
        return False
    return bool(action[hash_name] != encode64(sha256(text.encode("ascii"))))
