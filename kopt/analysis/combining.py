"""Which ops combine lanes, and the value that each of those combinations ignores."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.tile import ArgReduceOp, AssociativeOp, DotOp, ReduceOp, ScanOp, SortOp, neutral, tile_type
from kopt.dialects.triton import InlineOp


def combined_operands(op: Operation) -> list[tuple[int, tuple[int, ...], float | int]]:
    """The operands whose lanes an op combines: operand number, dimensions, neutral value.

    A scan from the first lane never sees those outside a range, which are the last.
    """
    if isinstance(op, ReduceOp):
        return [(0, op.dimensions, neutral(op.kind.data, _element(op.input)))]
    if isinstance(op, ArgReduceOp):
        return [(0, (op.dim.data,), neutral(op.kind.data, _element(op.input)))]
    if isinstance(op, ScanOp) and op.reverse is not None:
        return [(0, (op.dim.data,), neutral(op.kind.data, _element(op.input)))]
    if isinstance(op, SortOp):
        return [(0, (op.dim.data,), op.last)]
    if isinstance(op, DotOp):
        rank = tile_type(op.lhs).rank
        return [(0, (rank - 1,), 0), (1, (rank - 2,), 0)]
    if isinstance(op, InlineOp):
        return [(number, tuple(range(tile_type(value).rank)), 0) for number, value in enumerate(op.args)]
    return []


def combined_lanes(op: Operation) -> list[tuple[int, tuple[int, ...], float | int]]:
    """As `combined_operands`, for invalid lanes that may stand before valid ones: a scan sees those."""
    if isinstance(op, ScanOp):
        return [(0, (op.dim.data,), neutral(op.kind.data, _element(op.input)))]
    return combined_operands(op)


#: Ops whose result depends on the order of lanes, or on which of them are there together.
ORDERING_OPS = (ArgReduceOp, AssociativeOp, ScanOp, SortOp)


def summed_tags(op: Operation) -> list[str]:
    """The tags of the dimensions that a reduction or a product sums over; none for other ops."""
    if not isinstance(op, ReduceOp | DotOp):
        return []
    number, dims, _ = combined_operands(op)[0]
    return [tile_type(op.operands[number]).tags[dim] for dim in dims]


def _element(value: SSAValue) -> Attribute:
    return tile_type(value).element_type
