"""Long lines of Python broken as people break them: between brackets that hold most of it, or before operators."""

from __future__ import annotations

import re

#: Longer lines are broken.
LINE = 120
_INDENT = "    "
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_LAMBDA = re.compile(r"\blambda\b[^:]*")
_ASSIGNED = re.compile(r"(?:return|[^=]*? [-+*/|&]?=) (?=\S)")
#: Operators by how strongly they bind, weakest first.
_OPERATORS = [
    re.compile(rf" (?:{signs}) ") for signs in ("[<>=!]=|<|>", r"\|", r"\^", "&", "<<|>>", "[+-]", "[*%]|//?")
]
_OPEN, _CLOSED = "([{", ")]}"
_GROUP = re.compile(r"[(\[{] +[)\]}]")


def broken(text: str, indent: str, comment: str | None = None, inside: bool = False) -> list[str]:
    """The lines of a statement, each behind ``indent``; the comment stands on the first.

    What is between brackets goes on a line of its own if it fits, else, and in lists, each item does:

    x = f(a, b)  →  x = f(  # comment
                        a, b
                    )

    Where no brackets hold most of a text that stands ``inside`` of others, it is broken before its operators.
    """
    behind = f"  # {comment}" if comment else ""
    if len(indent) + len(text) + len(behind) <= LINE:
        return [f"{indent}{text}{behind}"]
    top = _top(text)
    start, end = _longest_group(top)
    if 2 * (end - start) <= len(text) and (parts := _operands(text, top)):
        if inside:
            return [line for part in parts for line in broken(part, indent, inside=True)]
        if (target := _ASSIGNED.match(top)) is not None:
            text = f"{text[: target.end()]}({text[target.end() :]})"
            start, end = target.end(), len(text) - 1
    if end == start:
        return [f"{indent}{text}{behind}"]
    items, inner = _items(text[start + 1 : end]), indent + _INDENT
    if (text[start] != "[" or _follows(text, start)) and len(inner) + len(", ".join(items)) <= LINE:
        lines = [inner + ", ".join(items)]
    else:
        comma = "," if len(items) > 1 or (text[start] == "(") == _follows(text, start) else ""
        lines = [line for item in items for line in broken(f"{item}{comma}", inner, inside=True)]
    return [f"{indent}{text[: start + 1]}{behind}", *lines, f"{indent}{text[end:]}"]


def _follows(text: str, start: int) -> bool:
    """Whether what stands before a bracket is called or subscribed."""
    return start > 0 and (text[start - 1].isalnum() or text[start - 1] in "_)]")


def _top(text: str) -> str:
    """A text with blanks for what is in strings or in brackets, and for the parameters of lambdas."""
    depth, found = 0, ""
    for character in _LAMBDA.sub(_blank, _STRING.sub(_blank, text)):
        depth -= character in _CLOSED and depth > 0
        found += " " if depth else character
        depth += character in _OPEN
    return found


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _longest_group(top: str) -> tuple[int, int]:
    """Where the longest brackets that are not empty begin and end; twice the same without any."""
    groups = ((match.start(), match.end() - 1) for match in _GROUP.finditer(top))
    return max(groups, key=lambda group: group[1] - group[0], default=(0, 0))


def _items(text: str) -> list[str]:
    """What stands between the commas of a text."""
    cuts = [-1, *(position for position, character in enumerate(_top(text)) if character == ","), len(text)]
    items = [text[a + 1 : b].strip() for a, b in zip(cuts, cuts[1:], strict=False)]
    return [item for item in items if item]


def _operands(text: str, top: str) -> list[str]:
    """A text cut before each of its weakest operators; empty without any."""
    found = next(filter(None, ([match.start() for match in signs.finditer(top)] for signs in _OPERATORS)), [])
    cuts = [0, *found, len(text)]
    return [text[a:b].strip() for a, b in zip(cuts, cuts[1:], strict=False)] if found else []
