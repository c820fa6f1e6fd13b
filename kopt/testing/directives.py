"""What is wrong with the directives of a lit test: a test that checks nothing passes for ever.

filecheck ignores what it does not know, so a misspelt ``CHECK-NXT:`` or a forgotten ``| filecheck %s`` goes unnoticed.
"""

from __future__ import annotations

import difflib
import re

SUFFIXES = ("NEXT", "SAME", "NOT", "DAG", "LABEL", "EMPTY")
#: Words that look like directives and are none of filecheck's.
OTHER = {"RUN", "COM", "REQUIRES", "NOTE", "XFAIL", "UNSUPPORTED"}

_PREFIXES = re.compile(r"--?check-prefix(?:es)?[= ]([\w,-]+)")
_WORD = re.compile(r"(?://|#)\s*(?P<word>[A-Za-z][\w-]*)(?P<literal>\{LITERAL\})?(?P<space>\s*)(?P<colon>:?)")
_CLOSE = 0.8


def problems_in(text: str) -> list[tuple[int, str]]:
    """The line number and description of each problem with the RUN and CHECK lines of a test."""
    runs = [line for line in text.splitlines() if "RUN:" in line]
    if not runs:
        return [(1, "no RUN line")]
    prefixes = [name for line in runs for found in _PREFIXES.findall(line) for name in found.split(",")]
    if any("filecheck" in line and not _PREFIXES.search(line) for line in runs) or not prefixes:
        prefixes.append("CHECK")
    problems = []
    checks = False
    for number, line in enumerate(text.splitlines(), 1):
        if "RUN:" in line or (match := _WORD.search(line)) is None:
            continue
        right = _is_directive(match["word"], prefixes)
        checks |= right and bool(match["colon"])
        if (problem := _problem(match, right, prefixes)) is not None:
            problems.append((number, problem))
    if checks and not any("filecheck" in line for line in runs):
        problems.append((1, "there are CHECK lines but no RUN line calls filecheck"))
    return problems


def _is_directive(word: str, prefixes: list[str]) -> bool:
    return any(
        word == prefix or re.fullmatch(rf"{re.escape(prefix)}-({'|'.join(SUFFIXES)}|COUNT-\d+)", word)
        for prefix in prefixes
    )


def _problem(match: re.Match[str], right: bool, prefixes: list[str]) -> str | None:
    word, colon = match["word"], match["colon"]
    if right:
        # `CHECK` alone is prose; with a suffix, or followed by " :", it is a directive that filecheck does not see.
        broken = (not colon and "-" in word) or (colon and match["space"])
        return f"'{word}' has to be followed by ':' at once" if broken else None
    if word in OTHER or not colon or word != word.upper():
        return None
    valid = [name for prefix in prefixes for name in (prefix, *(f"{prefix}-{suffix}" for suffix in SUFFIXES))]
    starts = any(word.startswith(f"{prefix}-") for prefix in prefixes)
    if starts or difflib.get_close_matches(word, valid, n=1, cutoff=_CLOSE):
        return f"'{word}:' is no directive of filecheck with the prefixes {', '.join(sorted(set(prefixes)))}"
    if "CHECK" in word:
        return f"no RUN line asks filecheck for the prefix of '{word}:'"
    return None
