"""The pass ``elide-bounds-checks``: kernels that copy row by row do so without the chip's bounds checks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.passes import ModulePass

from kopt.analysis.proved_bounds import is_inside
from kopt.dialects.pallas import CallOp, DmaStartOp
from kopt.dialects.tile import ForOp
from kopt.ir.ranges import binding
from kopt.walk import walk


@dataclass(frozen=True)
class ElideBoundsChecksPass(ModulePass):
    """Marks a `pallas.call` as ``unchecked`` where each place that it names is proved to be inside of its array.

    A TPU checks both ends of each copy before it starts: some ten instructions, twice as many as the copy itself takes.
    The check matters where a loop starts a copy for each row. Beside a large block it costs nothing, so only calls of
    the first kind are marked.

        pallas.call @f(%n, %x) windows […] … { … tile.for %r: b1=1 in (0, 512) { …
          pallas.dma_start %x[%row, :] to %rows[%r, :, :] … } }     // %row is clamped: from 0 to below the rows of %x
    becomes
        pallas.call @f(%n, %x) windows […] … unchecked … { … }

    The proof must hold for arguments of any content, because not every call checks its arguments
    (`kopt.analysis.proved_bounds`). It refuses nothing; a call with any place that is not proved stays as it is.
    """

    name = "elide-bounds-checks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            if any(map(_is_of_a_row, walk(call, DmaStartOp))) and is_inside(call):
                call.unchecked = UnitAttr()


def _is_of_a_row(start: DmaStartOp) -> bool:
    """Whether a loop over single elements starts a copy in each of its visits."""
    loop = start.parent_op()
    return isinstance(loop, ForOp) and binding(loop.range).size == 1
