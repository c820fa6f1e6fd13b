"""Which accesses are known to stay inside their arrays, whatever the arguments hold. Pure."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from kopt.dialects.tile import Access, BeginOp, EndOp, Entry, RangeType, TakeAlongOp, TileType
from kopt.dialects.tile.extents import extent_of
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.from_access import lanes_inside, relation_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import walked_in_place
from kopt.ir.value_range import ValueRange
from kopt.open_extents import is_open
from kopt.walk import walk


def doubtful(func: FuncOp) -> list[Access]:
    """The accesses of a function that may reach outside, in order."""
    analysis = IndexAnalysis()
    return [op for op in walk(func, Access) if not _is_inside(op, analysis)]


def _is_inside(op: Access, analysis: IndexAnalysis) -> bool:
    """Whether the lanes of an access that are inside their ranges and its mask are elements of its array."""
    pairs = zip(op.entries, memory_shape(op.memory.type), strict=True)
    return all(_fits(entry, size, analysis) for entry, size in pairs) or relation_of(op, analysis).in_bounds


def _fits(entry: Entry, size: int, analysis: IndexAnalysis) -> bool:
    """Whether what is known of each index alone tells so."""
    if not isinstance(entry, SSAValue):
        return True  # as the verifier sees to
    if is_open(size):
        return walks(entry, size, analysis)
    if isinstance(entry.type, TileType):
        return False
    if not isinstance(entry.type, RangeType):
        return ValueRange(0, size - 1).covers(analysis.range(entry))
    bound = analysis.binding(entry)
    if entry is not bound.value:
        return False
    while (outer := walked_in_place(bound)) is not None:
        bound = analysis.binding(outer)
    if not isinstance(bound.lower, int) or not isinstance(bound.upper, int):
        return False
    return bound.lower >= 0 and bound.upper <= size


def walks(entry: SSAValue, extent: int, analysis: IndexAnalysis) -> bool:
    """Whether an index is a block, or the beginning of one, of a range whose limit is an open extent."""
    return begins_inside(begin.range if isinstance(begin := entry.owner, BeginOp) else entry, extent, analysis)


def begins_inside(entry: SSAValue, extent: int, analysis: IndexAnalysis) -> bool:
    """Whether an index is a range of which all blocks begin in a dimension of an open extent, and none is valid beyond.

    Its limit is the extent, or the end of such a range.
    """
    if not isinstance(entry.type, RangeType):
        return False
    bound = analysis.binding(entry)
    if entry is not bound.value or not isinstance(upper := bound.upper, SSAValue):
        return False
    if not isinstance(bound.lower, int) and not analysis.range(bound.lower).is_natural:
        return False
    if isinstance(end := upper.owner, EndOp):
        return begins_inside(end.range, extent, analysis)
    return extent_of(upper) == extent


def doubtful_picks(func: FuncOp) -> list[TakeAlongOp]:
    """The ops that pick lanes by numbers of which some may be of no lane, in order."""
    analysis = IndexAnalysis()
    return [op for op in walk(func, TakeAlongOp) if not _picks_inside(op, analysis)]


def _picks_inside(op: TakeAlongOp, analysis: IndexAnalysis) -> bool:
    assert isinstance(op.input.type, TileType) and isinstance(op.indices.type, TileType)
    known = lanes_inside(op.indices.type, op, analysis).range_of(analysis.expr(op.indices))
    return ValueRange(0, op.input.type.shape[op.dim.data] - 1).covers(known)
