"""Between which numbers the lanes of an index tile lie that are inside their ranges. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from kopt.analysis.index_bounds import Bounds, index_bounds
from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.ranges import binding
from kopt.dialects.tile import ArangeOp, ElementwiseOp, RangeType, TileType

#: Of each order comparison: whether it asks for the first to be larger, and by how much at least.
_ORDERS = {"ge": (1, 0), "gt": (1, 1), "le": (-1, 0), "lt": (-1, 1)}
_PICKS = {"maximum": max, "minimum": min}


def lane_bounds(form: LaneSum) -> Bounds | None:
    """The smallest and the largest number of a sum's lanes; None where nothing tells."""
    low = high = form.const
    for (atom, _), factor in form.terms.items():
        bounds = _bounds(atom)
        if bounds is None:
            return None
        ends = [factor * bound for bound in bounds]
        low, high = low + min(ends), high + max(ends)
    return low, high


def always(condition: SSAValue) -> bool | None:
    """Whether a comparison of lane numbers holds in all lanes, or in none; None where that is not known."""
    op = condition.owner
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in _ORDERS:
        return None
    sign, least = _ORDERS[op.ROW.name]
    first, second = (lane_sum(operand) for operand in op.inputs)
    bounds = lane_bounds((first - second).times(sign))
    if bounds is None:
        return None
    low, high = bounds
    return True if low >= least else False if high < least else None


def _bounds(atom: SSAValue) -> Bounds | None:
    if isinstance(atom.type, IndexType):
        return index_bounds(atom)
    if isinstance(atom.type, RangeType):
        bound = binding(atom)
        known = isinstance(bound.lower, int) and isinstance(bound.upper, int) and bound.lower < bound.upper
        return (bound.lower, bound.upper - 1) if known else None  # pyright: ignore[reportReturnType, reportOperatorIssue]
    op = atom.owner
    if isinstance(op, ElementwiseOp) and op.ROW.name in _PICKS:
        both = [lane_bounds(lane_sum(operand)) for operand in op.inputs]
        known = [bounds for bounds in both if bounds is not None]
        pick = _PICKS[op.ROW.name]
        return (pick(low for low, _ in known), pick(high for _, high in known)) if len(known) == len(both) else None
    if not isinstance(op, ArangeOp) or not isinstance(op.result.type, TileType):
        return None
    ends = (op.start.data, op.start.data + (op.result.type.shape[0] - 1) * op.step.data)
    return min(ends), max(ends)
