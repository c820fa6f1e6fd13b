"""Every error that kopt shows a user, and how it is shown.

A diagnostic reads like a compiler's: ``file:line:col: error: message``, the source line with a caret
under the place, then notes. A user's mistake is always one of these classes, never a traceback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kopt.source_lines import source_line

#: The most of a source line, and of a message, that is shown: text from elsewhere may have any length.
_SHOWN = 400
_LONGEST = 4000


def brief(text: str, longest: int = _LONGEST) -> str:
    """A text, or its beginning where it is long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def with_id(message: str, id: str) -> str:
    """A message whose first line ends in the kind of what it says, as compilers show it: ``… [unknown-name]``."""
    first, line_end, rest = message.partition("\n")
    return f"{first} [{id}]{line_end}{rest}" if id else message


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
            text = source_line(self.file, self.line)
        else:
            lines = source.splitlines()
            text = lines[self.line - 1] if 0 < self.line <= len(lines) else ""
        text = text.rstrip("\n")
        if not text.strip():
            return ""
        end = self.end_col if self.end_col is not None else self.col + 1
        width = max(1, min(end, len(text) + 1) - self.col)
        pad = "".join("\t" if c == "\t" else " " for c in text[: self.col - 1])
        first = max(0, self.col - _SHOWN // 2) if len(text) > _SHOWN else 0
        shown = slice(first, first + _SHOWN)
        return f"{text[shown]}\n{(pad + '^' * width)[shown]}"


class KoptError(Exception):
    """Base of kopt's errors: a message, the place it is about, and notes on what to do.

    Args: ``message`` what was found and what was expected; ``location`` where; ``notes`` further lines;
    ``source`` the text that ``location`` points into, when it is not a file on disk; ``id`` the kind of the mistake,
    a key of `kopt.catalogue`: without one, that of the class.
    """

    id = "error"

    def __init__(
        self,
        message: str,
        location: Location | None = None,
        notes: Sequence[str] = (),
        source: str | None = None,
        id: str = "",
    ):
        super().__init__(message)
        self.id = id or type(self).id
        self.message = message
        self.location = location
        self.notes = tuple(notes)
        self.source = source
        #: Whether the place is that of the kernel that was called, for want of a closer one.
        self.of_call = False

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        lines = [f"{where}error: {with_id(brief(self.message), self.id)}"]
        if self.location and (excerpt := self.location.excerpt(self.source)):
            lines.append(excerpt)
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)


class ArgumentError(KoptError):
    """A call's arguments do not fit the kernel: names the argument, what was expected and what came."""

    id = "argument"


class ConfigError(KoptError):
    """A config key, target, pass or pipeline option that does not exist or has an impossible value."""

    id = "config"


class UnsupportedError(KoptError):
    """The kernel uses something that the frontend or the target cannot express; says what to use instead."""

    id = "unsupported"


class ParseError(KoptError):
    """IR text that is not well formed."""

    id = "syntax"


class VerifyError(KoptError):
    """IR that breaks an op's invariants."""

    id = "invalid-ir"


class AccessError(KoptError):
    """A kernel touches an element that its array does not have, or one that another cell of the grid writes."""

    id = "out-of-bounds"


class LoweringError(KoptError):
    """Valid IR that a lowering refuses because it could not be lowered correctly."""

    id = "not-lowered"


class VmemError(LoweringError):
    """The buffers of a launch take more VMEM than the target's chip has."""

    id = "vmem"


class RankError(KoptError):
    """A rank of a program's group did not come in time, or is gone."""

    id = "rank"


class CompileError(KoptError):
    """The target's own compiler refused the emitted module; carries its reason."""

    id = "compiler"


class MeaningError(KoptError):
    """A pass changed what a module computes, beyond what it states: a bug in the pass, not in the module.

    ``pass_name`` is that of the pass; ``reproducer`` the text of a module, led by the command that shows it again.
    """

    id = "pass-meaning"

    def __init__(
        self,
        message: str,
        location: Location | None = None,
        notes: Sequence[str] = (),
        pass_name: str = "",
        reproducer: str = "",
    ):
        super().__init__(message, location, notes)
        self.pass_name = pass_name
        self.reproducer = reproducer
