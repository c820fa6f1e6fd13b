"""What the grammar of plans reads: tokens of plain text here, of IR text in `kopt.dialects.tile.plan_attr`."""

from __future__ import annotations

import re
from typing import NoReturn, Protocol


class Tokens(Protocol):
    """A text, read from its start. What is asked for is given if it comes next; else None, or False, and it stays."""

    def here(self) -> int:
        """Where the next token begins."""
        ...

    def peek(self) -> str | None:
        """The next token, if it is a bare word. It stays."""
        ...

    def word(self) -> str | None:
        """A bare word."""
        ...

    def number(self) -> int | None:
        """An integer."""
        ...

    def mark(self, text: str) -> bool:
        """A punctuation mark: one character."""
        ...

    def buffer(self) -> str | None:
        """The name of a buffer, without its ``@``."""
        ...

    def operand(self, bare: bool = False) -> str | None:
        """The name of an operand, without its ``%``, which may be left out where ``bare``."""
        ...

    def access(self) -> str | None:
        """The id of an access, ``%x#1``, without its ``%``."""
        ...

    def fail(self, message: str, start: int | None = None, length: int = 1) -> NoReturn:
        """Raises: what stands at a place, or comes next, is wrong."""
        ...


class PlanTextError(ValueError):
    """Text that is no plan; ``start`` is where."""

    def __init__(self, message: str, start: int):
        super().__init__(message)
        self.start = start


_TOKEN = re.compile(
    r"\s*(?:%(?P<operand>[\w$.-]+(?:#[0-9]+)?)|@(?P<buffer>[A-Za-z_][\w$.]*)|(?P<number>-?[0-9]+)|(?P<word>[A-Za-z_][\w$.]*)"
    r"|(?P<mark>\S)|(?P<end>\Z))"
)


class TextTokens:
    """The tokens of plain text; raises `PlanTextError`."""

    def __init__(self, text: str):
        self._tokens = list(_TOKEN.finditer(text))
        self._at = 0

    def here(self) -> int:
        """Where the next token begins."""
        token = self._tokens[self._at]
        start = token.start(token.lastgroup or 0)
        return start - 1 if token.lastgroup in ("operand", "buffer") else start

    def peek(self) -> str | None:
        """The next token, if it is a bare word. It stays."""
        return self._tokens[self._at]["word"]

    def word(self) -> str | None:
        """A bare word."""
        return self._take("word")

    def number(self) -> int | None:
        """An integer."""
        found = self._take("number")
        return None if found is None else int(found)

    def mark(self, text: str) -> bool:
        """A punctuation mark."""
        if self._tokens[self._at]["mark"] != text:
            return False
        self._at += 1
        return True

    def buffer(self) -> str | None:
        """The name of a buffer."""
        return self._take("buffer")

    def operand(self, bare: bool = False) -> str | None:
        """The name of an operand."""
        start = self.here()
        found = self.access()
        if found is not None and "#" in found:
            self.fail(f"expected an operand, found the access %{found}", start, len(found) + 1)
        return self.word() if found is None and bare else found

    def access(self) -> str | None:
        """The id of an access."""
        return self._take("operand")

    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self._tokens[self._at].lastgroup == "end"

    def fail(self, message: str, start: int | None = None, length: int = 1) -> NoReturn:
        """Raises `PlanTextError`."""
        raise PlanTextError(message, self.here() if start is None else start)

    def _take(self, group: str) -> str | None:
        found = self._tokens[self._at][group]
        self._at += found is not None
        return found
