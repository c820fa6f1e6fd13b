"""Between which two numbers the lanes lie that a mask leaves of a block.

Pure. A mask is taken apart where it is a conjunction of comparisons of one range's lanes with numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.dialects.tile import ELEMENTWISE, BroadcastOp, IndexOp, ReshapeOp, SplatOp


@dataclass(frozen=True)
class LaneLimits:
    """The lanes of ``range`` from the largest of ``lower`` on, and before the smallest of ``upper``."""

    range: SSAValue
    lower: tuple[SSAValue, ...]
    upper: tuple[SSAValue, ...]


def lane_limits(mask: SSAValue) -> LaneLimits | None:
    """The limits that a mask stands for, or None where it is anything else."""
    op = mask.owner
    if isinstance(op, ELEMENTWISE["and"]):
        left, right = (lane_limits(operand) for operand in op.operands)
        if left is None or right is None or left.range is not right.range:
            return None
        return LaneLimits(left.range, left.lower + right.lower, left.upper + right.upper)
    if not isinstance(op, ELEMENTWISE["ge"] | ELEMENTWISE["lt"]):
        return None
    lanes, number = (_spread(operand) for operand in op.operands)
    if not isinstance(lanes.owner, IndexOp) or not isinstance(number.owner, SplatOp):
        return None
    below = isinstance(op, ELEMENTWISE["lt"])
    limit = (number.owner.scalar,)
    return LaneLimits(lanes.owner.range, () if below else limit, limit if below else ())


def _spread(value: SSAValue) -> SSAValue:
    """What is repeated along other dimensions."""
    while isinstance(value.owner, BroadcastOp | ReshapeOp):
        value = value.owner.input
    return value
