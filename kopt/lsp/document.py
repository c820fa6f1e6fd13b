"""One IR text as an editor sees it: what is wrong in it, and what its names mean. It need not parse."""

from __future__ import annotations

import traceback
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.utils.lexer import Span

from kopt.diagnostics import collect
from kopt.errors import KoptError, Location
from kopt.lsp import registered
from kopt.lsp.words import TextWord, TextWords
from kopt.parsing import line_starts, parse_module, pieces, verify


@dataclass(frozen=True)
class Finding:
    """A message about ``[start, end)`` of the text; ``severity`` is that of diagnostics."""

    start: int
    end: int
    message: str
    severity: str = "error"
    id: str = ""
    """Of the kind of mistake: ``kopt diagnostics ID`` explains it."""


@dataclass
class NameScope:
    """What is between the braces of a region; one without an end goes on to the end of the text."""

    start: int
    end: int | None = None

    def has(self, position: int) -> bool:
        return self.start <= position and (self.end is None or position < self.end)


@dataclass(frozen=True)
class Definition:
    """Where the text defines ``%name``, ``^name`` or ``@name``, and the values behind the first."""

    name: str
    start: int
    end: int
    scope: NameScope
    values: tuple[SSAValue, ...] = ()


@dataclass(frozen=True)
class NamedOp:
    """What ``@name`` is: its definition, the op that brings it, and where that op begins and ends."""

    definition: Definition
    op_name: str
    start: int
    end: int


@dataclass
class Piece:
    """One piece between ``// -----`` lines: the operations that parsed, and what is defined. Offsets are the file's."""

    start: int
    end: int
    moved: int
    """How much further in the file a place is than in the piece's own text."""
    operations: dict[int, tuple[Operation, int]] = field(default_factory=dict)
    """By the place of its name: an operation, and where the next word begins."""
    definitions: list[Definition] = field(default_factory=list)

    def __post_init__(self):
        self._scopes = [NameScope(self.start)]

    # What the parser tells.

    def operation(self, op: Operation, name: Span[Any], end: int) -> None:
        self.operations[name.start + self.moved] = op, end + self.moved

    def definition(self, name: Span[Any], values: Sequence[SSAValue]) -> None:
        start, end = name.start + self.moved, name.end + self.moved
        self.definitions.append(Definition(name.text, start, end, self._scopes[-1], tuple(values)))

    def enter(self, position: int) -> None:
        self._scopes.append(NameScope(position + self.moved))

    def leave(self, position: int) -> None:
        self._scopes.pop().end = position + self.moved

    # What is asked.

    def visible(self, position: int) -> Iterator[Definition]:
        """What is defined in the regions around a position, or there itself."""
        for found in self.definitions:
            if found.scope.has(position) or found.start <= position <= found.end:
                yield found

    def resolve(self, name: str, position: int) -> Definition | None:
        """The definition that a name means there: the innermost."""
        named = [found for found in self.visible(position) if found.name == name]
        return max(named, key=lambda found: found.scope.start, default=None)


class Document:
    """A text under a name, parsed and verified piece by piece."""

    def __init__(self, text: str, name: str = "<editor>"):
        self.text = text
        self.name = name
        self.words = TextWords(text)
        self.starts = line_starts(text)
        """Where each line begins."""
        self.problems: list[Finding] = []
        self.pieces = [self._parsed(one) for one in pieces(text)]

    def piece_at(self, position: int) -> Piece | None:
        """The piece that a position is in."""
        return next((piece for piece in reversed(self.pieces) if piece.start <= position), None)

    def line_col(self, position: int) -> tuple[int, int]:
        """Line and column of a position, from 0."""
        line = bisect_right(self.starts, position) - 1
        return line, position - self.starts[line]

    def line_at(self, position: int) -> str:
        """The text of the line that a position is in."""
        line, _ = self.line_col(position)
        return self.text[self.starts[line] :].partition("\n")[0].rstrip()

    def op_at(self, word: TextWord) -> type[Operation] | None:
        """The op whose name a word is."""
        piece = self.piece_at(word.start)
        if piece is not None and word.start in piece.operations:
            return type(piece.operations[word.start][0])
        return registered.op(word.text.strip('"')) if word.kind in ("name", "string") else None

    def definition(self, word: TextWord) -> Definition | None:
        """Where what a word names is defined."""
        if word.kind == "symbol":
            named = [symbol.definition for symbol in self.symbols if symbol.definition.name == word.text]
            piece = self.piece_at(word.start)
            return next((found for found in named if self.piece_at(found.start) is piece), next(iter(named), None))
        piece = self.piece_at(word.start)
        name = word.text.partition("#")[0]
        return None if piece is None or word.kind not in ("value", "label") else piece.resolve(name, word.start)

    @cached_property
    def symbols(self) -> list[NamedOp]:
        """What ``@name`` there is: the first after the name of an op that brings one."""
        return [*self._symbols()]

    def _symbols(self) -> Iterator[NamedOp]:
        for index, word in enumerate(self.words):
            if not registered.defines_symbol(self.op_at(word)):
                continue
            following = self.words[index + 1 : index + 3]  # ``private`` may come between
            name = next((one for one in following if one.kind == "symbol"), None)
            if name is not None and (following[0] is name or following[0].kind == "name"):
                definition = Definition(name.text, name.start, name.end, NameScope(0))
                yield NamedOp(definition, word.text, word.start, self._end(word.start, name.end))

    def _end(self, start: int, otherwise: int) -> int:
        """The end of the operation whose name stands at ``start``."""
        piece = self.piece_at(start)
        if piece is None or start not in piece.operations:
            return otherwise
        return len(self.text[: piece.operations[start][1]].rstrip())

    # Parsing.

    def _parsed(self, text: str) -> Piece:
        line = len(text) - len(text.lstrip("\n"))
        piece = Piece(self.starts[line], self.starts[line] + len(text) - line, self.starts[line] - line)
        with collect() as diagnostics:
            try:
                module = parse_module(text, self.name, listener=piece)
                self._place(piece)
                verify(module)
            except KoptError as error:
                self._add(piece, error.location, "error", "\n".join([error.message, *error.notes]), error.id)
            except RecursionError:
                self._add(piece, None, "error", "regions are nested too deeply")
            except Exception as crash:
                traceback.print_exc()
                self._add(piece, None, "error", f"this is a bug in kopt: {type(crash).__name__}: {crash}")
        for found in diagnostics:
            self._add(piece, found.location, found.severity, found.message, found.id)
        return piece

    def _place(self, piece: Piece) -> None:
        """Every operation is where it stands in this text, also where a ``loc(…)`` says where it came from."""
        name = StringAttr(self.name)
        for start, (op, _) in piece.operations.items():
            line, col = self.line_col(start)
            op.location = FileLineColLoc(name, IntAttr(line + 1), IntAttr(col + 1))

    def _add(self, piece: Piece, location: Location | None, severity: str, message: str, id: str = "") -> None:
        """Note a problem: at the word where it is, at the piece's first word where it has no place in this text."""
        first = self.words.before(piece.start) + 1
        start = self.words[first].start if first < len(self.words) else piece.start
        end = None
        if location is not None and location.file == self.name and 0 < location.line <= len(self.starts):
            line = self.starts[location.line - 1]
            start = min(line + location.col - 1, len(self.text))
            end = None if location.end_col is None else min(line + location.end_col - 1, len(self.text))
        if end is None:
            word = self.words.at(start)
            end = word.end if word is not None and word.start == start else start + 1
        self.problems.append(Finding(start, end, message, severity, id))
