"""What all printers write Python with that people read: lines, broken where they are long, blocks, source comments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from xdsl.dialects.builtin import FileLineColLoc
from xdsl.ir import Operation

from kopt.lowering.line_breaks import broken
from kopt.lowering.names import one_line
from kopt.source_lines import source_line

_INDENT = "    "
#: A name that is read: no attribute, no keyword or target of an assignment, no part of a string.
_READ = re.compile(r"""(?<![\w."'])[^\W\d]\w*+(?! *=[^=])""")
_COMMENT = re.compile(r"  # .*")
_GUARD = "def _():"
#: The most of a file's name and of a source line that a comment shows.
_LONGEST = 200


class Writer:
    """Collects lines of Python at the current indentation. Names that nothing reads are not in the `text`."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._assigned: dict[int, str] = {}
        self._depth = 0

    def line(self, text: str, comment: str | None = None) -> None:
        """Adds a statement or a header, on several lines where it is long."""
        self._lines += broken(text, _INDENT * self._depth, comment)

    def call(self, head: str, arguments: Iterable[str], tail: str = "", comment: str | None = None) -> None:
        """Adds ``head(arguments)tail``, an argument a line."""
        self._lines += broken(f"{head}(", _INDENT * self._depth, comment)
        for argument in arguments:
            self._lines += broken(f"{argument},", _INDENT * (self._depth + 1))
        self._lines += broken(f"){tail}", _INDENT * self._depth)

    def lines(self, texts: Iterable[str]) -> None:
        """Adds lines as they are."""
        self._lines += [f"{_INDENT * self._depth}{text}" if text else "" for text in texts]

    def assign(self, name: str, expression: str, comment: str | None = None) -> None:
        """Adds a statement that does no more than to give a name its value."""
        self._assigned[len(self._lines)] = name
        self._lines.append("\n".join(broken(f"{name} = {expression}", _INDENT * self._depth, comment)))

    def gap(self) -> None:
        """One empty line, unless nothing stands above it in its block."""
        if self._lines and self._lines[-1] and not _is_header(self._lines[-1]):
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
    def block(self, header: str, comment: str | None = None) -> Iterator[None]:
        """``header`` (``def f():``, ``for …:``), then what is written inside, indented; ``pass`` when nothing is."""
        self.line(header, comment)
        self._depth += 1
        start = len(self._lines)
        try:
            yield
            if all(line.lstrip().startswith("#") or not line for line in self._lines[start:]):
                self.line("pass")
        finally:
            self._depth -= 1

    def text(self) -> str:
        """Everything written that is needed, ending in a newline."""
        return "\n".join(self._needed() if self._assigned else self._lines).rstrip("\n") + "\n"

    def _needed(self) -> list[str]:
        """The lines but for assignments of names that their function does not read, and for guards of nothing else."""
        found: list[str] = []
        read: set[str] = set()
        guard = False
        for number, line in reversed([*enumerate(self._lines)]):
            name = self._assigned.get(number)
            if guard or (name is not None and name not in read):
                guard = False  # the condition stands above its function
                continue
            if line.lstrip() == _GUARD and _depth(found) <= _depth([line]):
                guard = True
                while found and not found[-1]:
                    found.pop()
                continue
            found.append(line)
            if line and not line.startswith(_INDENT):
                read.clear()
            else:
                read.update(_READ.findall(_COMMENT.sub("", line)))
        return _without_gaps(reversed(found))


def _depth(lines: list[str]) -> int:
    """How far the last line that is not empty is indented."""
    line = next(filter(None, reversed(lines)), "")
    return len(line) - len(line.lstrip())


def _is_header(line: str) -> bool:
    """Whether a block begins under a line."""
    return _COMMENT.sub("", line).endswith(":")


def _without_gaps(lines: Iterable[str]) -> list[str]:
    """The lines without empty ones under a header."""
    found: list[str] = []
    for line in lines:
        if line or not (found and _is_header(found[-1])):
            found.append(line)
    return found


def source_place(op: Operation) -> str | None:
    """``softmax.py:12`` for an op that has a location, else None. Safe to stand in a comment."""
    location = op.location
    if not isinstance(location, FileLineColLoc):
        return None
    file = os.path.basename(location.filename.data)
    return f"{one_line(file)[:_LONGEST]}:{location.line.data}"


def source_comment(op: Operation) -> str | None:
    """``softmax.py:12: amax = torch.amax(x, 1)`` where the source can be read, else the place alone, else None."""
    place = source_place(op)
    if place is None:
        return None
    assert isinstance(op.location, FileLineColLoc)
    text = source_line(op.location.filename.data, op.location.line.data).strip()
    return f"{place}: {one_line(text)[:_LONGEST]}" if text else place
