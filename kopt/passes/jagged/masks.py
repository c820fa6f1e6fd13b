"""Masks without what the loops around them say already."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.analysis.jagged import loops_around
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ELEMENTWISE, BroadcastOp, ReshapeOp, TransposeOp
from kopt.ir.from_access import known_inside
from kopt.ir.sums import SumAnalysis


def simplified(mask: SSAValue, user: Operation) -> SSAValue | None:
    """What is left of a mask at ``user``; None where it holds in all lanes that loops let it see.

    Left out are ``k.index < lengths`` of a jagged loop around, and what all lanes inside their ranges have, such as
    ``m.index < n`` of a range that ends there.
    """
    return _Simplifier(user).of(mask)


class _Simplifier:
    def __init__(self, user: Operation):
        self.user, self.build = user, Builder(user)
        self.sums = SumAnalysis()
        self.loops = loops_around(user)

    def of(self, mask: SSAValue) -> SSAValue | None:
        op = mask.owner
        if isinstance(op, ELEMENTWISE["and"]):
            left, right = (self.of(operand) for operand in op.operands)
            if left is None or right is None:
                return right if left is None else left
            return mask if (left, right) == tuple(op.operands) else self.build.compute("and", left, right)
        if isinstance(op, BroadcastOp | ReshapeOp | TransposeOp):
            inner = self.of(op.input)
            return None if inner is None else mask if inner is op.input else self._again(op, inner)
        if any(items.imply(mask, self.sums) for items in self.loops):
            return None
        return None if known_inside(mask, self.user, self.sums.exact) else mask

    def _again(self, op: BroadcastOp | ReshapeOp | TransposeOp, inner: SSAValue) -> SSAValue:
        clone = op.clone()
        clone.operands[0] = inner
        return self.build.add(clone)
