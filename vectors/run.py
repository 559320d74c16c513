"""Runs the vectors without Kith's code: python3 vectors/run.py [FOLDER]

Needs the packages cryptography and idna. Prints a line for every file and one for every case whose
result is another than the file says. Exits 1 where there is such a case, or something that is not known.
"""

import json
import sys
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True  # The folder is read alone.

from runner.files import KNOWN, Known, Verdict  # noqa: E402


def main(arguments: list[str]) -> int:
    folder = Path(arguments[0]) if arguments else Path(__file__).parent
    found = sorted(it.relative_to(folder).as_posix() for it in folder.rglob("*.json"))
    complaints = [f"{name}: is missing" for name in KNOWN if name not in found]
    for name in found:
        if name in KNOWN:
            complaints += run_file(name, folder / name, KNOWN[name])
        else:
            complaints.append(f"{name}: is not known to this program")
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


def run_file(name: str, path: Path, known: Known) -> list[str]:
    """Tells how many cases were run, and returns what is wrong."""
    file = json.loads(path.read_text(encoding="utf-8"))
    unknown = [f"{name}: {it}" for it in unknown_in(file, known)]
    if unknown:
        return unknown
    verdicts = list(known.run(file))
    cases = sum(len(file[it]) for it in known.lists)
    note = f" ({known.note})" if known.note else ""
    print(f"{name}: {cases} cases{note}")
    return [disagreement(name, it) for it in verdicts if not it.agrees]


def unknown_in(file: dict[str, Any], known: Known) -> list[str]:
    """What stands in a file that nothing here would look at, and lists that are not there."""
    expected = {"description", *known.beside, *known.lists}
    found = [f"{it} is not known to this program" for it in file if it not in expected]
    found += [f"{it} is missing" for it in expected if it not in file]
    for name, members in known.lists.items():
        cases = file.get(name, [])
        strange = sorted({it for case in cases for it in case} - set(members))
        found += [f"{name} has cases with {it}, which is not known" for it in strange]
        if not cases:
            found.append(f"{name} is empty")
        for member, inner in known.inner.items():
            given = [case[member] for case in cases if member in case]
            found += strange_within(name, member, given, inner)
    return found


def strange_within(
    name: str, member: str, given: list[Any], inner: tuple[str, ...]
) -> list[str]:
    """The same for the objects that a member of a case is, or lists."""
    found = [f"{name} has an empty {member}" for it in given if not it]
    objects = [it for value in given for it in (value if isinstance(value, list) else [value])]
    strange = sorted({it for value in objects for it in value} - set(inner))
    return found + [f"{name} has {member} with {it}, which is not known" for it in strange]


def disagreement(name: str, verdict: Verdict) -> str:
    expected, got = brief(verdict.expected), brief(verdict.got)
    return f"{name}: {verdict.case}: expected {expected}, got {got}"


def brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}…"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
