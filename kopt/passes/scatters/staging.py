"""Memory on the chip where a kernel puts computed blocks down, to pick them up row by row."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.pallas import DmaStartOp, DmaWaitOp, ScratchOp
from kopt.dialects.tile import ALL, PutOp, RefType, TileType, element_of, tile_type


class Staging:
    """Makes scratch memory of a launch and fills it before a place in the kernel."""

    def __init__(self, launch: LaunchOp, build: Builder):
        self.launch = launch
        self.build = build

    def empty(self, type: TileType, hint: str) -> SSAValue:
        """Room for a block."""
        return self._scratch(RefType(type.shape, type.element_type), hint)

    def block(self, value: SSAValue, hint: str) -> SSAValue:
        """A block of which rows can be read."""
        ref = self.empty(tile_type(value), hint)
        self.build.insert(PutOp(value, ref, [ALL] * tile_type(value).rank))
        return ref

    def scalars(self, value: SSAValue, hint: str) -> SSAValue:
        """Lanes of 32 bits that can be read as scalars."""
        block = self.block(value, f"{hint}_block")
        scalars = self._scratch(RefType(tile_type(value).shape, element_of(value), "smem"), hint)
        arrived = self._scratch(RefType((1,), i32, "semaphore"), f"{hint}_arrived")
        for end in (DmaStartOp, DmaWaitOp):
            self.build.insert(end(block, [ALL], scalars, [ALL], arrived, [0]))
        return scalars

    def _scratch(self, type: RefType, hint: str) -> SSAValue:
        op = ScratchOp(type)
        op.location = self.launch.location
        op.result.name_hint = hint
        first = self.launch.body.block.first_op
        assert first is not None
        Rewriter.insert_op(op, InsertPoint.before(first))
        return op.result
