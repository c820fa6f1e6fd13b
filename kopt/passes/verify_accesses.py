"""The pass ``verify-accesses``: what shapes alone show of a kernel's accesses is right."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from kopt.interpreter.access_checks import check_visible
from kopt.walk import walk


@dataclass(frozen=True)
class VerifyAccessesPass(ModulePass):
    """Refuses accesses outside of arrays, and cells that disturb each other, where shapes alone tell.

    An access is checked if it is not known to stay inside its array, and if no data decides whether it happens, for
    which lanes, and where. The reference interpreter runs the part of the function that decides this, at the ends of
    its loops. So the messages are those that the reference would give for a call:

        error: 'tile.load' of %x, shape [64]: lane [63] of the block is outside the array (dimension 0 of 64: 1 to 65)
        error: 'tile.load' reads what 'tile.store' of another cell of the grid accesses: cells run in no order

    What depends on elements of arguments is checked before calls: by interpreters always, on chips with ``checks``. The
    module stays as it is.
    """

    name = "verify-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in [inner for inner in walk(op, FuncOp) if not inner.is_declaration]:
            check_visible(op, func)
