"""What all printers write Python with that people read: lines, broken where they are long, blocks, source comments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

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


@dataclass(frozen=True)
class WrittenText:
    """A text that a writer made, and the op that each of its lines was written for."""

    text: str
    origins: Sequence[Operation | None]


_listener: ContextVar[list[WrittenText] | None] = ContextVar("kopt_written", default=None)


@contextmanager
def written() -> Iterator[list[WrittenText]]:
    """Collects the texts that are written inside the ``with`` block, each with the ops of its lines."""
    found: list[WrittenText] = []
    token = _listener.set(found)
    try:
        yield found
    finally:
        _listener.reset(token)


class Writer:
    """Collects lines of Python at the current indentation. Names that nothing reads are not in the `text`.

    ``origin`` is the op that is printed: lines are written for it.
    """

    def __init__(self) -> None:
        self.origin: Operation | None = None
        self._lines: list[str] = []
        self._origins: dict[int, Operation | None] = {}
        self._assigned: dict[int, str] = {}
        self._depth = 0

    @contextmanager
    def written_for(self, op: Operation) -> Iterator[None]:
        """While it lasts, lines are written for an op that another one prints."""
        outer, self.origin = self.origin, op
        yield
        self.origin = outer

    def _add(self, lines: Sequence[str]) -> None:
        start = len(self._lines)
        self._lines += lines
        self._origins |= dict.fromkeys(range(start, len(self._lines)), self.origin)

    def line(self, text: str, comment: str | None = None) -> None:
        """Adds a statement or a header, on several lines where it is long."""
        self._add(broken(text, _INDENT * self._depth, comment))

    def call(self, head: str, arguments: Iterable[str], tail: str = "", comment: str | None = None) -> None:
        """Adds ``head(arguments)tail``, an argument a line."""
        self._add(broken(f"{head}(", _INDENT * self._depth, comment))
        for argument in arguments:
            self._add(broken(f"{argument},", _INDENT * (self._depth + 1)))
        self._add(broken(f"){tail}", _INDENT * self._depth))

    def lines(self, texts: Iterable[str]) -> None:
        """Adds lines as they are."""
        self._add([f"{_INDENT * self._depth}{text}" if text else "" for text in texts])

    def assign(self, name: str, expression: str, comment: str | None = None, annotation: str | None = None) -> None:
        """Adds a statement that does no more than to give a name its value."""
        self._assigned[len(self._lines)] = name
        target = f"{name}: {annotation}" if annotation else name
        self._add(["\n".join(broken(f"{target} = {expression}", _INDENT * self._depth, comment))])

    def gap(self) -> None:
        """One empty line, unless nothing stands above it in its block."""
        if self._lines and self._lines[-1] and not _is_header(self._lines[-1]):
            self._add([""])

    def trim(self) -> None:
        """Drops empty lines at the end."""
        while self._lines and not self._lines[-1]:
            self._lines.pop()

    def comment(self, text: str) -> None:
        """Adds a comment, unless the last line is that comment."""
        comment = f"{_INDENT * self._depth}# {text}"
        if not self._lines or self._lines[-1] != comment:
            self._add([comment])

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
        numbers = self._needed() if self._assigned else range(len(self._lines))
        text = "\n".join(map(self._lines.__getitem__, numbers)).rstrip("\n") + "\n"
        if (listener := _listener.get()) is not None:
            lines = ((n, self._lines[n].count("\n") + 1) for n in numbers)
            listener.append(WrittenText(text, [self._origins[n] for n, count in lines for _ in range(count)]))
        return text

    def _needed(self) -> list[int]:
        """The numbers of the lines that are needed.

        Not assignments of names that their function does not read, nor guards of nothing else.
        """
        found: list[int] = []
        read: set[str] = set()
        guard = False
        for number, line in reversed([*enumerate(self._lines)]):
            name = self._assigned.get(number)
            if guard or (name is not None and name not in read):
                guard = False  # the condition stands above its function
                continue
            if line.lstrip() == _GUARD and self._depth_above(found) <= _depth(line):
                guard = True
                while found and not self._lines[found[-1]]:
                    found.pop()
                continue
            found.append(number)
            if line and not line.startswith(_INDENT):
                read.clear()
            else:
                read.update(_READ.findall(_COMMENT.sub("", line)))
        return self._without_gaps(reversed(found))

    def _depth_above(self, numbers: list[int]) -> int:
        """How far the last of some lines that is not empty is indented."""
        return _depth(next(filter(None, map(self._lines.__getitem__, reversed(numbers))), ""))

    def _without_gaps(self, numbers: Iterable[int]) -> list[int]:
        """The lines without empty ones under a header."""
        found: list[int] = []
        for number in numbers:
            if self._lines[number] or not (found and _is_header(self._lines[found[-1]])):
                found.append(number)
        return found


def _depth(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip())


def _is_header(line: str) -> bool:
    """Whether a block begins under a line."""
    return _COMMENT.sub("", line).endswith(":")


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
