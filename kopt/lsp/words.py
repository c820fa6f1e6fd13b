"""The words of an IR text, also of one that does not parse."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["comment", "string", "value", "label", "symbol", "type", "attribute", "name"]

#: What follows the first letter of a name, and the sign of a value, label or type, as MLIR's lexer says.
REST = r"[\w$.]*"
SUFFIX = r"(?:\d+|[A-Za-z_$.-][\w$.-]*)"
_WORDS = re.compile(
    r"(?P<comment>//[^\n]*)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*+")'
    rf"|(?P<value>%{SUFFIX}(?:\#\d+)?)"
    rf"|(?P<label>\^{SUFFIX})"
    rf'|(?P<symbol>@(?:[A-Za-z_]{REST}|"[^"\n]*"))'
    rf"|(?P<type>!{SUFFIX})"
    rf"|(?P<attribute>\#[A-Za-z_$.]{REST})"
    rf"|(?P<name>[A-Za-z_]{REST})",
    re.ASCII,
)


@dataclass(frozen=True)
class TextWord:
    """A word and its place: ``[start, end)`` in the text."""

    kind: Kind
    text: str
    start: int
    end: int


class TextWords(Sequence[TextWord]):
    """The words of a text, in its order."""

    def __init__(self, text: str):
        self._words = [*_words(text)]
        self._starts = [word.start for word in self._words]

    def __getitem__(self, index):  # pyright: ignore[reportIncompatibleMethodOverride]
        return self._words[index]

    def __len__(self) -> int:
        return len(self._words)

    def at(self, position: int) -> TextWord | None:
        """The word that a position is in, or that ends there."""
        for index in (self.before(position + 1), self.before(position)):
            if index >= 0 and self._words[index].start <= position <= self._words[index].end:
                return self._words[index]
        return None

    def before(self, position: int) -> int:
        """The index of the last word that begins before a position; -1 where none does."""
        return bisect_right(self._starts, position - 1) - 1


def _words(text: str) -> Iterator[TextWord]:
    for match in _WORDS.finditer(text):
        kind: Kind = match.lastgroup  # pyright: ignore[reportAssignmentType]
        yield TextWord(kind, match.group(), *match.span())
