"""The members of each type: docs/protocol/action-types.md."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from .forms import (
    Malformed,
    demand,
    file_type,
    is_action_id,
    is_identity,
    is_text,
    is_time,
    is_whole,
)
from .tokens import wrong_forms

Members = dict[str, Any]
Check = Callable[[Any], bool]


def text(least: int, most: int) -> Check:
    return lambda value: is_text(value, least, most)


def one_of(*words: str) -> Check:
    return lambda value: value in words


def is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value <= 1_000_000_000


def texts(most: int, is_item: Check) -> Check:
    """An object of texts."""
    return lambda value: (
        isinstance(value, dict)
        and len(value) <= most
        and all(map(is_item, value.values()))
    )


def items(most: int, is_item: Check) -> Check:
    return lambda value: (
        isinstance(value, list) and len(value) <= most and all(map(is_item, value))
    )


def is_web_address(value: Any) -> bool:
    if not is_text(value, 0, 2048):
        return False
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def is_end(value: Any) -> bool:
    """Unix seconds, or ISO 8601 with a zone."""
    if not isinstance(value, str):
        return is_time(value)
    try:
        zoned = re.sub("[zZ]$", "+00:00", value)
        return datetime.fromisoformat(zoned).tzinfo is not None
    except ValueError:
        return False


def is_file(value: Any) -> bool:
    return file_type(value) is not None


ANY = text(0, 32)
NONE = one_of()
ENDING = one_of("DEL")


@dataclass(frozen=True)
class Type:
    sub_types: Check
    required: tuple[str, ...] = ()
    one_required: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    subject: Check | None = None
    content: dict[str, Check] = field(default_factory=dict)
    content_required: tuple[str, ...] = ()


TAGS = items(20, text(1, 64))
ALT = {"alt": texts(50, text(0, 1500))}
MESSAGE = {"message": text(0, 500)}
NO_PARTS = ("parentId", "attachments")
POST_TEXTS = {
    "title": text(0, 300),
    "text": text(0, 50_000),
    "summary": text(0, 1000),
}

# A type without a check of its subject takes any words.
TYPES: dict[str, Type] = {
    "POST": Type(
        ANY,
        required=("content",),
        refused=("parentId",),
        content={**POST_TEXTS, "category": text(0, 64), "tags": TAGS, **ALT},
    ),
    "CMNT": Type(
        NONE,
        required=("content", "parentId"),
        content={"text": text(1, 10_000), **ALT},
        content_required=("text",),
    ),
    "REPOST": Type(NONE, ("subject",), refused=NO_PARTS, subject=is_action_id),
    "SHRE": Type(
        ANY,
        one_required=("subject", "content"),
        refused=("parentId",),
        content={"url": is_web_address, **POST_TEXTS},
    ),
    "FLLW": Type(ENDING, ("audienceTag",), refused=NO_PARTS),
    "CONN": Type(
        ENDING,
        ("audienceTag",),
        refused=NO_PARTS,
        subject=is_action_id,
        content=MESSAGE,
    ),
    "MSG": Type(
        NONE,
        ("content",),
        one_required=("audienceTag", "audience", "parentId"),
        refused=("visibility",),
        content={"text": text(1, 50_000), "subject": text(0, 300), **ALT},
        content_required=("text",),
    ),
    "FSHR": Type(
        ENDING,
        ("subject", "audienceTag", "content"),
        refused=NO_PARTS,
        subject=is_file,
        content={
            "permission": one_of("READ", "WRITE"),
            **MESSAGE,
            "expiresAt": is_end,
            "fileName": text(0, 255),
            "contentType": text(0, 255),
            "fileTp": one_of("BLOB", "CRDT", "RTDB", "FLDR"),
        },
        content_required=("permission",),
    ),
    "REACT": Type(
        one_of("LIKE", "LOVE", "LAUGH", "WOW", "SAD", "ANGRY"),
        ("subType",),
        one_required=("subject", "parentId"),
        refused=("attachments",),
        subject=is_action_id,
    ),
    "ACK": Type(ANY, ("subject",), refused=NO_PARTS, subject=is_action_id),
    "INVT": Type(
        NONE,
        ("audienceTag", "subject"),
        refused=NO_PARTS,
        subject=is_identity,
        content=MESSAGE,
    ),
    "APKG": Type(
        NONE,
        ("content", "attachments"),
        refused=("parentId",),
        content={
            "name": text(1, 100),
            "version": text(1, 64),
            "description": text(0, 1000),
            "tags": TAGS,
            "titles": texts(40, text(1, 100)),
            "descriptions": texts(40, text(1, 1000)),
            "fileTypes": items(20, text(0, 127)),
            "capabilities": items(3, one_of("crdt", "rtdb", "files:read")),
        },
        content_required=("name", "version"),
    ),
    "STAT": Type(
        NONE,
        ("subject", "content"),
        refused=NO_PARTS,
        subject=is_action_id,
        content={it: is_count for it in ("reactions", "comments", "views", "shares")},
    ),
    "ANNC": Type(
        ENDING,
        ("subject",),
        refused=NO_PARTS,
        subject=is_action_id,
        content={"hash": lambda it: isinstance(it, str)},
    ),
}


def fits_type(action: Members) -> bool:
    """Whether a type takes the members of a token that is valid otherwise."""
    try:
        check_action(action)
        return True
    except Malformed:
        return False


def check_action(action: Members) -> None:
    wrong = wrong_forms(action)
    demand(not wrong, f"not as they have to be: {', '.join(wrong)}")
    plain = [action.get(name, "") for name in ("subType", "subject", "flags")]
    demand(not any(map(has_control, plain)), "a control character")
    demand(bytes_of(action.get("x", {})) <= 16_384, "too large an x")
    demand(action.get("type") in TYPES, "an unknown type")
    rules = TYPES[action["type"]]
    ends = action.get("subType") == "DEL"
    if ends and rules.sub_types is not ENDING:
        # A deletion, which every type has and which needs to name nothing but what is deleted.
        demand(is_action_id(action.get("subject")), "deletes nothing")
        return
    demand("subType" not in action or rules.sub_types(action["subType"]), "no sub-type")
    check_presence(action, rules, ends)
    if rules.subject is not None and "subject" in action:
        demand(rules.subject(action["subject"]), "no subject of this type")
    if not ends:
        check_content(action, rules)


def has_control(value: str) -> bool:
    return re.search("[\x00-\x1f\x7f-\x9f]", value) is not None


def bytes_of(value: Any) -> int:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return len(text.encode())


def check_presence(action: Members, rules: Type, ends: bool) -> None:
    needed = [name for name in rules.required if not (ends and name == "content")]
    demand(all(name in action for name in needed), "a member is missing")
    demand(not any(name in action for name in rules.refused), "a member too many")
    if rules.one_required:
        demand(any(name in action for name in rules.one_required), "names nothing")


def check_content(action: Members, rules: Type) -> None:
    content = action.get("content", {})
    for name, check in rules.content.items():
        demand(name not in content or check(content[name]), f"{name} has not its form")
    demand(
        all(name in content for name in rules.content_required), "content is missing"
    )
    if action["type"] == "SHRE":
        demand("subject" in action or "url" in content, "shares nothing")
    if action["type"] == "APKG":
        demand(len(action["attachments"]) == 1, "not one package")
