"""Finding an identity: docs/protocol/discovery.md."""

import ipaddress
import json
import re
import unicodedata
from typing import Any

from .forms import (
    Malformed,
    demand,
    file_type,
    is_identity,
    is_kid,
    is_time,
    parse_document,
)
from .keys import load_key, numbers

Members = dict[str, Any]

MOST_NAMES = 8
MOST_BYTES = 65_536

# What the names in the vectors touch of the Public Suffix List, of which no package is asked for.
# A name below any other suffix needs its line here; without one the last label is the suffix.
SUFFIXES = ("com", "io", "github.io", "uk", "co.uk")


def registrable(name: str) -> str:
    """The registrable domain of a name, or the name itself where it is a suffix."""
    labels = name.split(".")
    for at in range(len(labels)):
        if ".".join(labels[at:]) in SUFFIXES or at == len(labels) - 1:
            return ".".join(labels[max(at - 1, 0) :])
    return name


def names_to_ask(name: str) -> list[str]:
    labels, last = name.split("."), registrable(name)
    names = [".".join(labels[at:]) for at in range(len(labels))]
    names = names[: names.index(last) + 1]
    if len(names) > MOST_NAMES:
        return [names[0], *names[1 - MOST_NAMES :]]
    return names


def address_of(text: Any, allow_http: bool, allow_query: bool = False) -> str:
    """An address as the page describes it, with its scheme and host in their usual form."""
    demand(isinstance(text, str) and len(text) <= 2048, "no address")
    form = r"(https?)://(\[[0-9a-f:.]+\]|[^/:?#@\[\]]+)(?::([0-9]{1,5}))?(/[^?#]*)?(\?[^#]*)?"
    demand(re.fullmatch(r"[!-~]+", text) is not None and "\\" not in text, "no address")
    found = re.fullmatch(form, text, flags=re.IGNORECASE)
    if found is None:
        raise Malformed("no address")
    scheme, host, port, path, query = found.groups()
    scheme, host = scheme.lower(), host.lower()
    demand(scheme == "https" or allow_http, "plain http")
    demand(is_host(host) and int(port or 0) <= 65_535, "no host or port")
    demand(query is None or allow_query, "a query")
    usual = {"https": 443, "http": 80}[scheme]
    end = "" if port is None or int(port) == usual else f":{int(port)}"
    return f"{scheme}://{host}{end}{path or ''}{query or ''}"


def is_host(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
        return True
    except ValueError:
        return is_identity(host) or host == "localhost"


def server_of(text: Any, allow_http: bool) -> str:
    address = address_of(text, allow_http)
    return address[:-1] if address.endswith("/") else address


def server_in(record: str, allow_http: bool) -> str | None:
    """The server that a record names, if it counts."""
    fields = [it.partition("=") for it in re.split(r"[ ;]+", record) if it]
    known = [name for name, _, _ in fields if name in ("v", "server")]
    values = {name: value for name, _, value in fields}
    if len(set(known)) < len(known) or values.get("v") != "1":
        return None
    try:
        return server_of(values.get("server"), allow_http)
    except Malformed:
        return None


def read_records(records: list[str], allow_http: bool) -> Members:
    found = {server_in(record, allow_http) for record in records} - {None}
    if not found:
        return {"kind": "none"}
    if len(found) > 1:
        return {"kind": "ambiguous"}
    return {"kind": "server", "server": found.pop()}


def read_answer(answer: Members, id_tag: str, allow_http: bool) -> Members:
    """What an answer says of the identity that was asked for."""
    status = answer["status"]
    if status == 429 or status >= 500:
        return {"kind": "unreachable"}
    try:
        demand(status == 200 and is_json(answer.get("contentType", "")), "no document")
        data = sent(answer)
        demand(len(data) <= MOST_BYTES, "too large")
        return {
            "kind": "found",
            "identity": identity_in(parse_document(data), id_tag, allow_http),
        }
    except Malformed:
        return {"kind": "unknown"}


def is_json(content_type: str) -> bool:
    kind = content_type.partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def sent(answer: Members) -> bytes:
    if "body" in answer:
        return json.dumps(answer["body"], ensure_ascii=False).encode()
    text: str = answer.get("text", "")
    return text.encode()


def identity_in(document: Any, id_tag: str, allow_http: bool) -> Members:
    demand(isinstance(document, dict), "no object")
    data = document.get("data")
    demand(isinstance(data, dict) and data.get("idTag") == id_tag, "another identity")
    server = server_of(data.get("serverUrl"), allow_http)
    inbox = f"{server}/api/inbox"
    if "inboxUrl" in data:
        inbox = address_of(data["inboxUrl"], allow_http, allow_query=True)
    current = numbers(load_key(data.get("publicKey")))
    keys = [{"publicKey": current}]
    if "keys" in data:
        keys = listed_keys(data["keys"])
        demand(
            current in [key["publicKey"] for key in keys], "a key that is not listed"
        )
    described = {name: data[name] for name in DESCRIPTIVE if fits(name, data)}
    return {
        "idTag": id_tag,
        "serverUrl": server,
        "inboxUrl": inbox,
        "keys": keys,
        **described,
    }


def listed_keys(value: Any) -> list[Members]:
    demand(isinstance(value, list) and len(value) <= 16, "no list of keys")
    keys = [listed_key(it) for it in value]
    demand(len({key["kid"] for key in keys}) == len(keys), "one id for two keys")
    return keys


def listed_key(value: Any) -> Members:
    demand(isinstance(value, dict) and is_kid(value.get("kid")), "no key")
    times = {it: value[it] for it in ("expiresAt", "revokedAt") if it in value}
    demand(all(map(is_time, times.values())), "no time")
    return {
        "kid": value["kid"],
        "publicKey": numbers(load_key(value.get("publicKey"))),
        **times,
    }


DESCRIPTIVE = ("name", "type", "profilePic")


def fits(name: str, data: Members) -> bool:
    value = data.get(name)
    if name == "type":
        return value in ("person", "community")
    if name == "profilePic":
        return file_type(value) is not None
    return isinstance(value, str) and is_name(value)


# Control characters, ends of lines, marks of direction and halves of characters.
UNFIT = "[\x00-\x1f\x7f-\x9f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
# Letters that are not drawn; of the other Default_Ignorable all are marks or of category C.
BLANK = "\u2800\u115f\u1160\u3164\uffa0"


def is_name(text: str) -> bool:
    """One line of visible text."""
    name = text.strip()
    return len(name) <= 100 and not re.search(UNFIT, name) and any(map(is_drawn, name))


def is_drawn(character: str) -> bool:
    is_seen = unicodedata.category(character)[0] not in "CMZ"
    return is_seen and character not in BLANK


def comparable(expected: Members) -> Members:
    """Keys are compared as keys, not as text."""
    if "identity" not in expected:
        return expected
    identity = expected["identity"]
    keys = [
        {**key, "publicKey": numbers(load_key(key["publicKey"]))}
        for key in identity["keys"]
    ]
    return {**expected, "identity": {**identity, "keys": keys}}
