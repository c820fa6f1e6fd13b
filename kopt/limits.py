"""What IR may ask for: limits that keep reading and running it a matter of seconds, whoever wrote it.

No kernel comes near them. Text that is beyond one is refused at its place, before anything of its size is made.
"""

from __future__ import annotations

import re

#: How deep brackets, and with them regions, types, attributes and locations, may be nested in text.
NESTING = 64
#: The bits of an integer type.
INTEGER_BITS = 64
#: Digits of a number: those of 64 bits and some.
DIGITS = 24
#: Dimensions of a type.
RANK = 32
#: Lanes of a block.
LANES = 1 << 31
#: Sizes, extents, indices: what is computed of some stays in 64 bits.
INDEX = 1 << 40
#: Visits of a loop, operations in all, and elements of a value: what the reference interpreter goes through and holds.
VISITS = 1 << 22
OPERATIONS = 1 << 24
ELEMENTS = 1 << 28

_SCAN = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|->|[<>]=|(?P<open>[\[({<])|(?P<close>[\])}>])'
    rf"|(?P<rank>(?:(?:\d+|\?)\s*x\s*){{{RANK + 1}}})"
    r"|(?<![\w.$%@#!^-])[su]?i(?P<bits>\d+)\b(?!\s*=)|(?<![\w.$%@#!^])(?P<digits>\d[\d.]*)"
)
_MODULE = re.compile(r"(?:\s|//[^\n]*\n)*builtin\.module\b")


def beyond(text: str) -> tuple[int, int, str] | None:
    """Where the text is beyond a limit, from and to, and which; None for all text that people write."""
    depth = -1 if _MODULE.match(text) else 0  # the module itself, which text may leave out, and is printed with
    for match in _SCAN.finditer(text):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
            if depth > NESTING:
                return *match.span(), f"brackets are nested more than {NESTING} deep"
        elif kind == "close":
            depth -= 1
        elif kind == "bits" and (len(match["bits"]) > 3 or int(match["bits"]) > INTEGER_BITS):
            return *match.span(), f"integers have at most {INTEGER_BITS} bits, found {_brief(match[0])}"
        elif kind == "rank":
            return *match.span(), f"types have at most {RANK} dimensions"
        elif kind == "digits" and len(match["digits"].partition(".")[0]) > DIGITS:
            return *match.span(), f"numbers have at most {DIGITS} digits, found {_brief(match[0])}"
    return None


def _brief(text: str) -> str:
    return text if len(text) < 40 else f"{text[:40]}…"
