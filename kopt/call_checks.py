"""What calls of a kernel look at before they run, of its accesses and of the offsets of its items."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.entry import entry_function
from kopt.analysis.offset_checks import ItemSlice, has_bounds_of_items, item_slices
from kopt.context import make_context
from kopt.interpreter.access_checks import AccessChecks, access_checks
from kopt.interpreter.host_arrays import HostArrays
from kopt.pass_manager import run
from kopt.passes.pipelines import jagged_pipeline, reference_pipeline


@dataclass(frozen=True)
class CallChecks:
    """What an `Executable` is given to look at: accesses, and what items reach with the arrays that offsets are of."""

    accesses: AccessChecks | None = None
    slices: tuple[ItemSlice, ...] = ()
    host_arrays: HostArrays | None = None

    @property
    def remain(self) -> bool:
        """Whether further calls have something to look at."""
        return self.host_arrays is not None or self.accesses is not None and self.accesses.remain


def call_checks(module: ModuleOp, entry: str, looks_itself: bool = False) -> CallChecks:
    """The checks of an imported function, of which copies are made.

    ``looks_itself`` says that whatever runs it looks at each access when it makes it, as the reference does.
    """
    slices, host_arrays = _items(module, entry)
    return CallChecks(None if looks_itself else _accesses(module, entry), slices, host_arrays)


def _accesses(module: ModuleOp, entry: str) -> AccessChecks | None:
    copy = module.clone()
    # Rows that are put back are read by no cell: what another cell writes there disturbs none.
    run(copy, make_context(), reference_pipeline())
    return access_checks(copy, entry)


def _items(module: ModuleOp, entry: str) -> tuple[tuple[ItemSlice, ...], HostArrays | None]:
    if not has_bounds_of_items(entry_function(module, entry)):
        return (), None
    raised = module.clone()
    run(raised, make_context(), jagged_pipeline())
    return item_slices(entry_function(raised, entry)), HostArrays(raised, entry)
