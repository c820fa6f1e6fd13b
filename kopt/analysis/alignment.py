"""Where blocks may begin in a TPU's memory, and which loops walk from an element where none may.

Pure. Copies and reads of blocks begin at multiples of 8 rows (16 of 16-bit elements, 32 of 8-bit ones) and of 128
lanes; of an array of one dimension at multiples of as many elements as 128 words of 32 bits hold. Dimensions further
out begin anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.combining import ORDERING_OPS
from kopt.analysis.visit_independence import is_blind_to_visits
from kopt.dialects.tile import (
    Access,
    BeginOp,
    BroadcastOp,
    CountOp,
    EndOp,
    ForOp,
    IdOp,
    LoadOp,
    RangeType,
    ReduceOp,
    ShiftOp,
    TileType,
    TransposeOp,
    WhenOp,
    is_gather,
    range_type,
    tag_of,
)
from kopt.dialects.tile.memory import WritesMemory
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.targets.tiling import LANES
from kopt.walk import walk

#: Ops on a range that tell apart where its blocks begin.
_SEES_BLOCKS = (BeginOp, EndOp, IdOp, CountOp, WhenOp)
#: Ops that keep a dimension's lanes where they are, or combine them in any order.
_LANEWISE = (BroadcastOp, TransposeOp, ReduceOp)


def multiple(type: MemRefType, dim: int, lanes: int = -1) -> int:
    """What the first element of a block must be a multiple of, in one dimension of an array.

    Dimension ``lanes`` stands along the lanes: the last one, unless a layout takes single elements of that.
    """
    element, rank = type.element_type, type.get_num_dims()
    assert isinstance(element, FixedBitwidthType)
    bits, lanes = max(8, element.bitwidth), lanes % rank
    if rank == 1:
        return LANES * 32 // min(bits, 32)
    return {lanes: LANES, lanes - 1: 8 * max(1, 32 // bits)}.get(dim, 1)


def copied_multiple(type: MemRefType, dim: int) -> int:
    """What the size of a block that is copied must be a multiple of, in one dimension of an array: a whole tile."""
    element, rank = type.element_type, type.get_num_dims()
    assert isinstance(element, FixedBitwidthType)
    if rank == 1:
        return multiple(type, dim)
    return 8 * 32 // max(8, element.bitwidth) if dim == rank - 2 else LANES if dim == rank - 1 else 1


@dataclass(frozen=True)
class AlignedWalk:
    """How a loop walks memory.

    Blocks must begin at multiples of ``multiple``; all arrays that are only read reach to ``extent`` at least, a
    multiple of that and a block's size at least, once the ``short`` ones are padded, and windows of those that are
    written; ``shift`` is what every access adds to the loop's range, None where nothing; ``entries`` are the ranges
    that the accesses take, one value for each place where what they add is computed.
    """

    multiple: int
    extent: int
    shift: SSAValue | None
    entries: frozenset[SSAValue]
    short: tuple[tuple[LoadOp, int], ...]


def walk_to_align(loop: ForOp, analysis: IndexAnalysis) -> AlignedWalk | None:
    """How a loop walks, where it begins at an element that no block may begin at and might as well begin before it.

    So where other blocks of the same elements give the same, and nothing asks where blocks begin.
    """
    accesses = list(_accesses(loop))
    if not accesses or not is_blind_to_visits(loop) or not all(_is_lanewise(op, loop) for op in walk(loop.body)):
        return None
    first = accesses[0][2]
    multiples, extents, start = [], [], analysis.begin(first)
    for access, dim, entry in accesses:
        type = access.memory.type
        if not isinstance(type, MemRefType) or access.mask is not None or _is_gathering(access):
            return None
        multiples.append(multiple(type, dim))
        extents.append(type.get_shape()[dim])
        if analysis.begin(entry) != start:
            return None
    wanted = max(multiples)
    if start.divisor % wanted == 0 or range_type(loop.range).size % wanted:
        return None
    if first is not loop.range and _shift(first, loop) is None:
        return None
    reach = max(-(-min(extents) // wanted) * wanted, range_type(loop.range).size)
    short = [(op, dim) for (op, dim, _), extent in zip(accesses, extents, strict=True) if extent < reach]
    loads = [(op, dim) for op, dim in short if isinstance(op, LoadOp) and not _is_written(op.memory)]
    entries = frozenset(entry for _, _, entry in accesses)
    return AlignedWalk(wanted, reach, _shift(first, loop), entries, tuple(loads))


def _is_written(memory: SSAValue) -> bool:
    return any(use.operation.has_trait(WritesMemory) for use in memory.uses)


def _shift(entry: SSAValue, loop: ForOp) -> SSAValue | None:
    """What an entry adds to the loop's range, where that is one value known before the loop."""
    shift = entry.owner
    if not isinstance(shift, ShiftOp) or shift.range is not loop.range:
        return None
    home = shift.offset.owner
    inside = home.parent_block() if isinstance(home, Operation) else home
    return None if _is_inside(inside, loop) else shift.offset


def _is_inside(block: Block | None, loop: ForOp) -> bool:
    while block is not None:
        if block is loop.body.block:
            return True
        block = block.parent_block()
    return False


def _accesses(loop: ForOp) -> Iterator[tuple[Access, int, SSAValue]]:
    """The accesses of blocks of a loop's range: which dimension, and the entry there."""
    for op in walk(loop.body):
        if isinstance(op, Access):
            for dim, entry in enumerate(op.entries):
                if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) and unshifted(entry) is loop.range:
                    yield op, dim, entry


def _is_gathering(access: Access) -> bool:
    return any(is_gather(entry) for entry in access.entries)


def _is_lanewise(op: Operation, loop: ForOp) -> bool:
    """Whether an op computes the same for a lane, wherever in a block it stands."""
    if isinstance(op, _SEES_BLOCKS) and any(unshifted(value) is loop.range for value in _ranges(op)):
        return False
    if isinstance(op, ORDERING_OPS):
        return not any(_has_tag(value, loop) for value in op.operands)
    if isinstance(op, (Access, *_LANEWISE)):
        return True
    kept = all(_has_tag(value, loop) for value in op.results if isinstance(value.type, TileType))
    return kept or not any(_has_tag(value, loop) for value in op.operands) or op.name == "tile.dot"


def _ranges(op: Operation) -> Iterator[SSAValue]:
    return (value for value in op.operands if isinstance(value.type, RangeType))


def _has_tag(value: SSAValue, loop: ForOp) -> bool:
    return isinstance(value.type, TileType) and tag_of(loop.range) in value.type.tags
