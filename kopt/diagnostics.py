"""What passes and the verifier say about operations: locations, remarks and warnings.

A pass calls ``remark(op, "…")`` to report what it did or why it did not; nothing happens unless somebody listens:

    with collect() as diagnostics:
        run(module, ctx, passes)
    for diagnostic in diagnostics: print(diagnostic)
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from kopt.errors import Location, LoweringError, with_id
from kopt.open_extents import NeedsConstant

if TYPE_CHECKING:  # compiled kernels run without xDSL
    from xdsl.ir import Attribute, Operation

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True)
class Diagnostic:
    """One message about a place: ``file:line:col: severity: message``, and its kind where it has one."""

    severity: Severity
    message: str
    location: Location | None = None
    id: str = ""

    def __str__(self) -> str:
        where = f"{self.location}: " if self.location else ""
        return f"{where}{self.severity}: {with_id(self.message, self.id)}"


@dataclass(frozen=True)
class Problem:
    """What is wrong at which operation, and what may be done instead."""

    op: Operation
    message: str
    notes: tuple[str, ...] = ()
    id: str = "not-lowered"

    @property
    def error(self) -> LoweringError:
        """The diagnostic that it is refused with."""
        return LoweringError(self.message, location_of(self.op), notes=self.notes, id=self.id)


_listener: ContextVar[list[Diagnostic] | None] = ContextVar("kopt_diagnostics", default=None)


@contextmanager
def collect() -> Iterator[list[Diagnostic]]:
    """Collect the remarks and warnings emitted inside the ``with`` block; the innermost collector gets them."""
    diagnostics: list[Diagnostic] = []
    token = _listener.set(diagnostics)
    try:
        yield diagnostics
    finally:
        _listener.reset(token)


def remark(op: Operation, message: str) -> None:
    """Tell whoever listens what was done to ``op``, or why something was not done."""
    report(Diagnostic("remark", message, location_of(op)))


def warning(op: Operation, message: str, id: str = "") -> None:
    """Tell whoever listens that the result is right but probably not what was wanted."""
    report(Diagnostic("warning", message, location_of(op), id))


def report(diagnostic: Diagnostic) -> None:
    """Tell whoever listens something that is not about an operation."""
    listener = _listener.get()
    if listener is not None and diagnostic not in listener:  # a pass that runs twice says nothing twice
        listener.append(diagnostic)


def location_of(op: Operation | None) -> Location | None:
    """Where ``op`` comes from; an operation without a location is where its closest located parent is."""
    while op is not None:
        if (location := to_location(op.location)) is not None:
            return location
        op = op.parent_op()
    return None


@contextmanager
def extents_placed() -> Iterator[None]:
    """Places what needs an extent that differs from call to call, wherever that is found out: at the operation.

    Of the frames that the error passed, the innermost with an operation in its hands says which one that is.
    """
    try:
        yield
    except NeedsConstant as error:
        error.location = error.location or _in_hands(error.__traceback__)
        raise


def _in_hands(step: TracebackType | None) -> Location | None:
    from xdsl.ir import Operation

    found = None
    while step is not None:
        held = [value for value in step.tb_frame.f_locals.values() if isinstance(value, Operation)]
        found, step = next(filter(None, map(location_of, reversed(held))), found), step.tb_next
    return found


def to_location(attribute: Attribute) -> Location | None:
    """The first file position inside an MLIR location attribute, or None where it has none."""
    from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc

    match attribute:
        case FileLineColLoc():
            return Location(attribute.filename.data, attribute.line.data, max(1, attribute.column.data))
        case CallSiteLoc():
            return to_location(attribute.callee) or to_location(attribute.caller)
        case NameLoc():
            return to_location(attribute.location)
        case FusedLoc():
            return next(filter(None, map(to_location, attribute.locations)), None)  # pyright: ignore
        case _:
            return None
