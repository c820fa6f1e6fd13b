"""Every error that kopt shows a user, and how it is shown.

A diagnostic reads like a compiler's: ``file:line:col: error: message``, the source line with a caret
under the place, then notes. A user's mistake is always one of these classes, never a traceback.
"""

from __future__ import annotations

import linecache
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Location:
    """A place in a source file. ``line`` and ``col`` count from 1; ``end_col`` is exclusive and optional."""

    file: str
    line: int
    col: int = 1
    end_col: int | None = None

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.col}"

    def excerpt(self, source: str | None = None) -> str:
        """The source line with carets under the place, or nothing where the source cannot be found."""
        if source is None:
            text = linecache.getline(self.file, self.line)
        else:
            lines = source.splitlines()
            text = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        text = text.rstrip("\n")
        if not text.strip():
            return ""
        end = self.end_col if self.end_col is not None else self.col + 1
        width = max(1, min(end, len(text) + 1) - self.col)
        pad = "".join("\t" if c == "\t" else " " for c in text[: self.col - 1])
        return f"{text}\n{pad}{'^' * width}"


class KoptError(Exception):
    """Base of kopt's errors: a message, the place it is about, and notes on what to do.

    Args: ``message`` what was found and what was expected; ``location`` where; ``notes`` further lines;
    ``source`` the text that ``location`` points into, when it is not a file on disk.
    """

    def __init__(
        self,
        message: str,
        location: Location | None = None,
        notes: Sequence[str] = (),
        source: str | None = None,
    ):
        super().__init__(message)
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.source = source

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        lines = [f"{where}error: {self.message}"]
        if self.location and (excerpt := self.location.excerpt(self.source)):
            lines.append(excerpt)
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


class ArgumentError(KoptError):
    """A call's arguments do not fit the kernel: names the argument, what was expected and what came."""


class ConfigError(KoptError):
    """A config key, target, pass or pipeline option that does not exist or has an impossible value."""


class UnsupportedError(KoptError):
    """The kernel uses something that the frontend or the target cannot express; says what to use instead."""


class ParseError(KoptError):
    """IR text that is not well formed."""


class VerifyError(KoptError):
    """IR that breaks an op's invariants."""


class LoweringError(KoptError):
    """Valid IR that a lowering refuses because it could not be lowered correctly."""


class RankError(KoptError):
    """A rank of a program's group did not come in time, or is gone."""


class CompileError(KoptError):
    """The target's own compiler refused the emitted module; carries its reason."""
