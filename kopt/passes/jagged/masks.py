"""Masks without what the loops around them say already."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.jagged import loops_around
from kopt.analysis.lane_sums import lane_sum
from kopt.analysis.ranges import binding
from kopt.analysis.slices import is_range
from kopt.dialects.tile import ELEMENTWISE, BroadcastOp, ReshapeOp, TransposeOp


def simplified(mask: SSAValue, user: Operation) -> SSAValue | None:
    """What is left of a mask at ``user``; None where it holds in all lanes that loops let it see.

    Left out are ``k.index < lengths`` of a jagged loop around, and ``m.index < n`` of a range that ends there.
    """
    return _Simplifier(user).of(mask)


class _Simplifier:
    def __init__(self, user: Operation):
        self.at = InsertPoint.before(user)
        self.loops = loops_around(user)

    def of(self, mask: SSAValue) -> SSAValue | None:
        op = mask.owner
        if isinstance(op, ELEMENTWISE["and"]):
            left, right = (self.of(operand) for operand in op.operands)
            if left is None or right is None:
                return right if left is None else left
            return mask if (left, right) == tuple(op.operands) else self._insert(ELEMENTWISE["and"](left, right))
        if isinstance(op, BroadcastOp | ReshapeOp | TransposeOp):
            inner = self.of(op.input)
            return None if inner is None else mask if inner is op.input else self._again(op, inner)
        return None if any(items.imply(mask) for items in self.loops) or _always(mask) else mask

    def _again(self, op: BroadcastOp | ReshapeOp | TransposeOp, inner: SSAValue) -> SSAValue:
        clone = op.clone()
        clone.operands[0] = inner
        return self._insert(clone)

    def _insert(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, self.at)
        return op.results[0]


def _always(condition: SSAValue) -> bool:
    """Whether a condition is that lanes of a range are below where it ends anyway."""
    op = condition.owner
    if not isinstance(op, ELEMENTWISE["lt"]):
        return False
    form = lane_sum(op.operands[0]) - lane_sum(op.operands[1])
    if len(form.terms) != 1:
        return False
    (placed, coefficient) = next(iter(form.terms.items()))
    if coefficient != 1 or not is_range(placed):
        return False
    upper = binding(placed[0]).upper
    return isinstance(upper, int) and upper + form.const <= 0
