"""Whether the type of a value tells which of its lanes are valid: what a canonicalisation must not drop."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.tile.constants import ArangeOp, FullOp, SplatOp
from kopt.dialects.tile.elementwise import CastOp, ElementwiseOp, SelectOp
from kopt.dialects.tile.memory import LoadOp
from kopt.dialects.tile.ranges import RangeLanesOp
from kopt.dialects.tile.shape import BroadcastOp, TransposeOp
from kopt.dialects.tile.types import TileType

#: Values that are looked at, at most, before the answer is no.
_MOST = 32
#: Ops whose result has the invalid lanes that its tags and the operands tell of.
_TELLING = (ElementwiseOp, CastOp, SelectOp, BroadcastOp, TransposeOp, LoadOp, RangeLanesOp, FullOp, SplatOp, ArangeOp)


def tells_validity(value: SSAValue) -> bool:
    """Whether tags tell all invalid lanes of a value.

    So it is of what constants and plain loads give, and of what is computed from those lane by lane. A reshape, a
    concatenation or a gather may hide lanes of a ragged block, and a loop may carry such a value.
    """
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        value = pending.pop()
        if value in seen or not isinstance(value.type, TileType):
            continue
        seen.add(value)
        if len(seen) > _MOST or not isinstance(value.owner, _TELLING):
            return False
        pending += value.owner.operands
    return True


def keeps_tags(before: TileType, after: TileType) -> bool:
    """Whether all tags of a type are in another."""
    return {*before.tags} <= {*after.tags, ""}
