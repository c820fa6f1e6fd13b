"""The pass ``dce``: operations that nothing needs go."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriterListener

from kopt.analysis.effects import is_trivially_dead


class DcePass(ModulePass):
    """Dead code elimination: operations without effects whose results nothing uses are erased.

        %a = tile.load %x[%i]     %b = tile.neg %a          // nothing uses %b
    becomes nothing. It never refuses.
    """

    name = "dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        eliminate(op.body)


def eliminate(region: Region, listener: PatternRewriterListener | None = None) -> bool:
    """Erases what is dead in a region, the last first, so that what it alone used goes too; whether anything was."""
    changed = False
    for block in region.blocks:
        op = block.last_op
        while op is not None:
            before = op.prev_op
            if is_trivially_dead(op):
                if listener is not None:
                    listener.handle_operation_removal(op)
                block.erase_op(op)
                changed = True
            else:
                for inner in op.regions:
                    changed |= eliminate(inner, listener)
            op = before
    return changed
