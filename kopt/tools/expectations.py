"""``--verify-diagnostics``: the errors, warnings, remarks and notes that comments in the input expect.

    // expected-error @+1 {{text that the message contains}}
    // expected-remark @below {{…}}        the next line without such a comment
    // expected-warning @above 2 {{…}}     the closest line above without such a comment; twice
    // expected-error @unknown {{…}}       a message without a place

Every error and warning must be expected, every expectation met. Remarks and notes must be expected only where the
piece expects some of their kind (or with ``--remarks``), since passes may say more over time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kopt.diagnostics import Diagnostic, Severity
from kopt.errors import KoptError, Location

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)\s*"
    r"(?:@(?P<where>[+-]\d+|above|below|unknown))?\s*(?P<count>\d+)?\s*\{\{(?P<text>.*?)\}\}"
)
_MENTION = re.compile(r"expected-\w+")


@dataclass
class _Expectation:
    """One directive: what is expected on which line (None: nowhere), and how often it still is."""

    severity: str
    text: str
    line: int | None
    place: Location
    count: int = 1

    def matches(self, diagnostic: Diagnostic, name: str) -> bool:
        here = diagnostic.location is not None and diagnostic.location.file == name
        line = diagnostic.location.line if here and diagnostic.location else None
        return self.severity == diagnostic.severity and self.text in diagnostic.message and self.line == line


def check_expectations(
    text: str, name: str, diagnostics: list[Diagnostic], error: KoptError | None, *, strict: bool = False
) -> list[KoptError]:
    """What is wrong between the expectations in ``text`` and what was said; nothing where all match.

    Args: ``name`` the file that the expectations are about; ``strict`` wants every remark and note expected.
    """
    expected, problems = _parse(text, name)
    wanted = {expectation.severity for expectation in expected} | {"error", "warning"}
    for diagnostic in [*diagnostics, *_from_error(error)]:
        match = next((e for e in expected if e.count and e.matches(diagnostic, name)), None)
        if match is not None:
            match.count -= 1
        elif diagnostic.severity in wanted or strict:
            problems.append(
                KoptError(f"unexpected {diagnostic.severity}: {diagnostic.message}", diagnostic.location, source=text)
            )
    problems += [
        KoptError(f'expected {e.severity} "{e.text}" was not produced', e.place, source=text)
        for e in expected
        if e.count
    ]
    return problems


def _from_error(error: KoptError | None) -> Iterator[Diagnostic]:
    if error is None:
        return
    yield Diagnostic("error", error.message, error.location)
    for note in error.notes:
        yield Diagnostic("note", note, error.location)


def _parse(text: str, name: str) -> tuple[list[_Expectation], list[KoptError]]:
    """The expectations of a text, and complaints about those that are written wrongly."""
    lines = text.split("\n")
    bare = [number for number, line in enumerate(lines, 1) if not _MENTION.search(line)]
    expected: list[_Expectation] = []
    problems: list[KoptError] = []
    for number, line in enumerate(lines, 1):
        found = list(_EXPECTATION.finditer(line))
        for match in found:
            place = Location(name, number, match.start() + 1, match.end() + 1)
            target = _target_line(match["where"], number, bare)
            expected.append(_Expectation(match["severity"], match["text"], target, place, int(match["count"] or 1)))
        if len(found) < len(_MENTION.findall(line)) and "//" in line:
            message = "this expectation is not understood; write 'expected-error @+1 {{…}}'"
            problems.append(KoptError(message, Location(name, number), source=text))
    return expected, problems


def _target_line(where: str | None, number: int, bare: list[int]) -> int | None:
    """The line that a directive on line ``number`` is about; ``bare`` are the lines without directives."""
    match where:
        case None:
            return number
        case "unknown":
            return None
        case "below":
            return next((line for line in bare if line > number), number)
        case "above":
            return next((line for line in reversed(bare) if line < number), number)
        case _:
            return number + int(where)


__all__ = ["Severity", "check_expectations"]
