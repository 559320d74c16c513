"""What is done with each file of vectors: one function a file, which yields a verdict for every case."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from . import forms, outcomes, tokens
from .actions import TYPES, fits_type
from .discovery import comparable, names_to_ask, read_answer, read_records
from .faults import action_faults, identity_token_faults
from .forms import Malformed
from .keys import vector_key

Members = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    case: str
    expected: Any
    got: Any

    @property
    def agrees(self) -> bool:
        return same(self.expected, self.got)


Verdicts = Iterator[Verdict]
REFUSED = "refused"


def same(one: Any, other: Any) -> bool:
    """Equal, and neither true nor false is a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            same(one[it], other[it]) for it in one
        )
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def outcome(make: Callable[[Any], Any], given: Any) -> Any:
    """What is made, or that it is refused because of its form."""
    try:
        return make(given)
    except Malformed:
        return REFUSED


def told(case: Members) -> str:
    """The text of a token, put together where it is given in parts."""
    return case["token"] if "token" in case else joined(case["parts"])


def joined(parts: list[Any]) -> str:
    return "".join(
        it if isinstance(it, str) else it["repeat"] * it["times"] for it in parts
    )


def verdict_of(judge: Callable[[str], Any], text: str) -> Any:
    try:
        return judge(text)
    except tokens.Refused as refusal:
        return refusal


def action_tokens(file: Members) -> Verdicts:
    issuers, now = tokens.issuers_of(file["issuers"]), file["now"]

    def check(text: str) -> Members:
        return tokens.judge_action(text, now, issuers)

    def judge(case: Members) -> Any:
        return verdict_of(check, told(case))

    for case in file["valid"]:
        got = judge(case)
        yield Verdict(case["name"], told_payload(case), shown(got))
        if isinstance(got, dict) and got["type"] in TYPES:
            yield Verdict(f"{case['name']}: by its type", True, fits_type(got))
    for case in file["invalid"]:
        got = judge(case)
        expected = (case["error"], case.get("reason"))
        yield Verdict(case["name"], expected, refusal_of(got))
        yield one_fault(case, action_faults(told(case), now, issuers))


def told_payload(case: Members) -> Members:
    if "payload" in case:
        payload: Members = case["payload"]
    else:
        payload = json.loads(joined(case["payloadParts"]))
    return payload


def one_fault(case: Members, faults: list[str]) -> Verdict:
    """Whatever a case that is refused does not name is in order."""
    return Verdict(f"{case['name']}: faults", faults[:1] or ["one"], faults)


def refusal_of(got: Any) -> Any:
    return (got.error, got.reason) if isinstance(got, tokens.Refused) else "valid"


def shown(got: Any) -> Any:
    return refusal_of(got) if isinstance(got, tokens.Refused) else got


# Wrong in every way but its signature.
OF_ANOTHER_KIND = ("an action token",)


def identity_tokens(use: str) -> Callable[[Members], Verdicts]:
    def run(file: Members) -> Verdicts:
        issuers = tokens.issuers_of(file["issuers"])
        host = tokens.Host(file["audience"], file["now"], issuers)

        def check(text: str) -> Members:
            return tokens.judge_identity_token(text, use, host)

        def judge(case: Members) -> Any:
            return verdict_of(check, told(case))

        for case in file["valid"]:
            got = judge(case)
            yield Verdict(case["name"], case["claims"], shown(got))
            if "ends" in case and isinstance(got, dict):
                yield Verdict(f"{case['name']}: ends", case["ends"], tokens.ends(got))
        for case in file["invalid"]:
            got = judge(case)
            reason = got.reason if isinstance(got, tokens.Refused) else "valid"
            yield Verdict(case["name"], case["reason"], reason)
            faults = identity_token_faults(told(case), use, host)
            if case["name"] not in OF_ANOTHER_KIND:
                yield one_fault(case, faults)

    return run


def id_tags(file: Members) -> Verdicts:
    for case in file["valid"]:
        typed, name = case["input"], case["idTag"]
        yield Verdict(typed, name, outcome(forms.identity_of, typed))
        yield Verdict(f"{typed}: in a token", typed == name, forms.is_identity(typed))
        yield Verdict(f"{name}: in a token", True, forms.is_identity(name))
    for case in file["invalid"]:
        typed = case["input"]
        yield Verdict(case["name"], REFUSED, outcome(forms.identity_of, typed))
        is_taken = forms.is_identity(typed)
        yield Verdict(f"{case['name']}: in a token", False, is_taken)


def action_ids(file: Members) -> Verdicts:
    for case in file["valid"]:
        name, nonce = case["issuerTag"], case["nonce"]
        label = f"{name} {nonce}"
        yield Verdict(label, case["actionId"], forms.action_id(name, nonce))
        sound = forms.is_action_id(case["actionId"]) and tokens.is_nonce(nonce)
        yield Verdict(f"{label}: its form", True, sound)
    for case in file["invalid"]:
        yield Verdict(case["name"], False, forms.is_action_id(case["text"]))


def file_ids(file: Members) -> Verdicts:
    for case in file["blobs"]:
        digest, salt = forms.decode64(case["sha256"]), forms.decode64(case["salt"])
        content = bytes.fromhex(case["contentHex"])
        yield Verdict(f"{case['name']}: sha256", digest, forms.sha256(content))
        made = "b1~" + forms.encode64(forms.sha256(b"blob" + salt + digest))
        yield Verdict(case["name"], case["fileId"], made)
    for case in file["types"]:
        yield Verdict(case["fileId"], case["type"], forms.file_type(case["fileId"]))
    for case in file["invalid"]:
        yield Verdict(case["name"], None, forms.file_type(case["text"]))
    for case in file["variants"]:
        text, expected = case["variantId"], (case["fileId"], case["variant"])
        yield Verdict(text, expected, outcome(forms.variant_of, text))
    for case in file["invalidVariants"]:
        text = case["text"]
        yield Verdict(case["name"], REFUSED, outcome(forms.variant_of, text))


def reference_ids(file: Members) -> Verdicts:
    for case in file["valid"]:
        yield Verdict(case["refId"], True, forms.is_reference(case["refId"]))
    for case in file["invalid"]:
        yield Verdict(case["name"], False, forms.is_reference(case["text"]))


def cursors(file: Members) -> Verdicts:
    for case in file["valid"]:
        expected = case["place"]
        yield Verdict(case["name"], expected, outcome(place_of, case))
    for case in file["invalid"]:
        yield Verdict(case["name"], REFUSED, outcome(place_of, case))


def place_of(case: Members) -> Members:
    cursor = case["cursor"]
    forms.demand(len(cursor) <= 2048, "too long")
    value = forms.parse_json(forms.decode64(cursor))
    forms.demand(isinstance(value, dict) and value.get("s") == case["sort"], "another")
    forms.demand("v" in value and is_value(value["v"]), "no value")
    forms.demand(value.get("id") is not None and is_value(value["id"]), "no id")
    return {name: value[name] for name in ("s", "v", "id")}


def is_value(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value is None or isinstance(value, str) or is_number


def discovery_names(file: Members) -> Verdicts:
    for case in file["cases"]:
        yield Verdict(case["idTag"], case["names"], names_to_ask(case["idTag"]))


def txt_records(file: Members) -> Verdicts:
    for case in file["cases"]:
        got = read_records(case["records"], case.get("allowHttp", False))
        yield Verdict(case["name"], case["expect"], got)


def id_tag_answers(file: Members) -> Verdicts:
    for case in file["cases"]:
        allow_http = case.get("allowHttp", False)
        got = read_answer(case["answer"], file["idTag"], allow_http)
        yield Verdict(case["name"], comparable(case["expect"]), got)


def members(file: Members) -> Verdicts:
    for name, expected in (("valid", True), ("invalid", False)):
        for case in file[name]:
            yield Verdict(case["name"], expected, fits_type(case["action"]))


def action_outcomes(file: Members) -> Verdicts:
    for case in file["outcomes"]:
        judged = [verdict_of(own_judgement, it["token"]) for it in case["tokens"]]
        if all(isinstance(it, dict) for it in judged):
            yield from outcomes_of(case, judged)
        for at, (it, got) in enumerate(zip(case["tokens"], judged), start=1):
            made = got.get("actionId") if isinstance(got, dict) else refusal_of(got)
            yield Verdict(f"{case['name']}: token {at}", it["actionId"], made)


def outcomes_of(case: Members, payloads: list[Members]) -> Verdicts:
    held = {it["actionId"]: it["token"] for it in case["tokens"]}
    statuses = outcomes.statuses(payloads)
    for at, (it, payload) in enumerate(zip(case["tokens"], payloads)):
        name = f"{case['name']}: token {at + 1}"
        if "status" in it:
            yield Verdict(f"{name}: status", it["status"], statuses[at])
        elif payload.get("subType") != "DEL":
            yield Verdict(f"{name}: status", "one", None)
        expected = it.get("mismatched", False)
        got = outcomes.is_mismatched(payload, held)
        yield Verdict(f"{name}: mismatched", expected, got)


def own_judgement(text: str) -> Members:
    """A token at the time at which it was signed, with the key that every `kid` of the vectors has."""
    try:
        token = tokens.open_token(text, tokens.MOST_CHARACTERS)
        tokens.check_header(token.header)
        forms.demand(not tokens.wrong_members(token.payload), "members")
    except Malformed as error:
        raise tokens.Refused("malformed", str(error)) from error
    kid = token.header["kid"]
    key = tokens.Key(vector_key(kid), None, None)
    issuers = {token.payload["issuerTag"]: {kid: key}}
    return tokens.judge_action(text, token.payload["iat"], issuers)


@dataclass(frozen=True)
class Known:
    """How a file is run, and the names of all that may stand in it and in its cases."""

    run: Callable[[Members], Verdicts]
    lists: dict[str, tuple[str, ...]]
    beside: tuple[str, ...] = ()
    inner: dict[str, tuple[str, ...]] = field(default_factory=dict)
    note: str | None = None


TOKEN = ("name", "token", "parts")
AT_A_HOST = ("now", "audience", "issuers")

KNOWN: dict[str, Known] = {
    "tokens/action-tokens.json": Known(
        action_tokens,
        {
            "valid": (*TOKEN, "payload", "payloadParts"),
            "invalid": (*TOKEN, "error", "reason"),
        },
        ("now", "issuers"),
    ),
    "tokens/proxy-tokens.json": Known(
        identity_tokens("proxy"),
        {"valid": (*TOKEN, "claims"), "invalid": (*TOKEN, "reason")},
        AT_A_HOST,
    ),
    "tokens/logout-tokens.json": Known(
        identity_tokens("logout"),
        {"valid": (*TOKEN, "claims", "ends"), "invalid": (*TOKEN, "reason")},
        AT_A_HOST,
    ),
    "ids/id-tags.json": Known(
        id_tags, {"valid": ("input", "idTag"), "invalid": ("name", "input")}
    ),
    "ids/action-ids.json": Known(
        action_ids,
        {"valid": ("issuerTag", "nonce", "actionId"), "invalid": ("name", "text")},
    ),
    "ids/file-ids.json": Known(
        file_ids,
        {
            "blobs": ("name", "contentHex", "salt", "sha256", "fileId"),
            "types": ("type", "fileId"),
            "invalid": ("name", "text"),
            "variants": ("variantId", "fileId", "variant"),
            "invalidVariants": ("name", "text"),
        },
    ),
    "ids/reference-ids.json": Known(
        reference_ids, {"valid": ("refId",), "invalid": ("name", "text")}
    ),
    "cursors/cursors.json": Known(
        cursors,
        {
            "valid": ("name", "sort", "cursor", "place"),
            "invalid": ("name", "sort", "cursor"),
        },
    ),
    "discovery/names.json": Known(
        discovery_names,
        {"cases": ("idTag", "names")},
        note="by a few lines of the Public Suffix List, which is not here",
    ),
    "discovery/txt-records.json": Known(
        txt_records,
        {"cases": ("name", "records", "allowHttp", "expect")},
        inner={"expect": ("kind", "server")},
    ),
    "discovery/id-tag-answers.json": Known(
        id_tag_answers,
        {"cases": ("name", "answer", "allowHttp", "expect")},
        ("idTag",),
        {
            "answer": ("status", "contentType", "body", "text"),
            "expect": ("kind", "identity"),
        },
    ),
    "actions/members.json": Known(
        members, {"valid": ("name", "action"), "invalid": ("name", "action")}
    ),
    "actions/outcomes.json": Known(
        action_outcomes,
        {"outcomes": ("name", "tokens")},
        ("receiver",),
        {"tokens": ("token", "actionId", "status", "mismatched")},
        note="not run: the orders in which a receiver may get them",
    ),
}
