"""What both printers need to write Python that people read: lines and blocks, names, source comments."""

from __future__ import annotations

import builtins
import keyword
import linecache
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation, SSAValue

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")
_NOT_WORD = re.compile(r"\W+")
_INDENT = "    "


class Writer:
    """Collects lines of Python at the current indentation."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._depth = 0

    def line(self, text: str = "") -> None:
        """Adds one line, or an empty one."""
        self._lines.append(f"{_INDENT * self._depth}{text}" if text else "")

    def lines(self, texts: Iterable[str]) -> None:
        """Adds lines."""
        for text in texts:
            self.line(text)

    def gap(self) -> None:
        """One empty line, unless nothing stands above it in its block."""
        if self._lines and self._lines[-1] and not self._lines[-1].split("#")[0].rstrip().endswith(":"):
            self._lines.append("")

    def trim(self) -> None:
        """Drops empty lines at the end."""
        while self._lines and not self._lines[-1]:
            self._lines.pop()

    def comment(self, text: str) -> None:
        """Adds a comment, unless the last line is that comment."""
        comment = f"{_INDENT * self._depth}# {text}"
        if not self._lines or self._lines[-1] != comment:
            self._lines.append(comment)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """``header`` (``def f():``, ``for …:``), then what is written inside, indented; ``pass`` when nothing is."""
        self.line(header)
        self._depth += 1
        start = len(self._lines)
        try:
            yield
            if all(line.lstrip().startswith("#") or not line for line in self._lines[start:]):
                self.line("pass")
        finally:
            self._depth -= 1

    def text(self) -> str:
        """Everything written, ending in a newline."""
        return "\n".join(self._lines).rstrip("\n") + "\n"


class Names:
    """Python identifiers for SSA values: from their name hints, made valid and unique.

    ``reserved`` are names that the emitted code uses for itself, besides keywords and builtins.
    """

    def __init__(self, reserved: Iterable[str] = ()):
        self._used = {*keyword.kwlist, *keyword.softkwlist, *dir(builtins), *reserved}
        self._names: dict[SSAValue, str] = {}

    def fresh(self, hint: str | None, default: str = "v") -> str:
        """A new identifier like ``hint``."""
        base = _NOT_WORD.sub("_", hint or "").strip("_") or default
        if not _IDENTIFIER.match(base):
            base = f"{default}_{base}"
        name, number = base, 1
        while name in self._used:
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        return name

    def bind(self, value: SSAValue, hint: str | None = None) -> str:
        """Gives a value its identifier: from ``hint``, else from its own name hint."""
        name = self.fresh(hint or value.name_hint)
        self._names[value] = name
        return name

    def alias(self, value: SSAValue, expression: str) -> None:
        """Lets a value be spelt by an expression or by a name that exists already."""
        self._names[value] = expression

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._names


def is_identifier(text: str) -> bool:
    """Whether a text from IR may stand as a name in emitted code."""
    return bool(_IDENTIFIER.match(text)) and not keyword.iskeyword(text)


def source_place(op: Operation) -> str | None:
    """``softmax.py:12`` for an op that has a location, else None. Safe to stand in a comment."""
    location = op.location
    if not isinstance(location, FileLineColLoc):
        return None
    file = os.path.basename(location.filename.data)
    return f"{_one_line(file)}:{location.line.data}"


def source_comment(op: Operation) -> str | None:
    """``softmax.py:12: amax = torch.amax(x, 1)`` where the source can be read, else the place alone, else None."""
    place = source_place(op)
    if place is None:
        return None
    assert isinstance(op.location, FileLineColLoc)
    text = linecache.getline(op.location.filename.data, op.location.line.data).strip()
    return f"{place}: {_one_line(text)}" if text else place


def _one_line(text: str) -> str:
    """A text made safe to stand in a comment: one line of printable characters."""
    return "".join(c if c.isprintable() else " " for c in text)
