"""Which arrays of launches XLA lays out in another order than row by row, and kernels can take so. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import users
from kopt.analysis.alignment import copied_multiple
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Entry, LoadOp, RangeType, StoreOp, array_type, is_number
from kopt.dialects.tile.index_list import AllAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.open_extents import open_extents
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES, SUBLANES, compact_order
from kopt.walk import walk

_Array = tuple[LaunchOp, int]
Order = tuple[int, ...]


def reordered(top: Operation) -> dict[_Array, Order]:
    """Launches and the numbers of their arrays, with XLA's order of the dimensions, that the launch may have too.

    What one launch gives another is reordered in both or in neither.
    """
    analysis = IndexAnalysis()
    found = {
        (launch, number): order
        for launch in walk(top, LaunchOp)
        for number, memory in enumerate(launch.body.block.args)
        if (order := _compact(memory)) and _may_be_reordered(memory, order, analysis)
    }
    while alone := {array for array in found if not found.keys() >= {*_same(array)}}:
        found = {array: order for array, order in found.items() if array not in alone}
    return found


def _same(array: _Array) -> Iterator[_Array]:
    """The arrays of other launches that are the same array of the host, before the launch or behind it."""
    launch, number = array
    values = [launch.inputs[number]] if number < len(launch.inputs) else []
    if number in launch.written:
        values.append(launch.version_of(number))
    for value in values:
        if isinstance(giver := value.owner, LaunchOp):
            yield giver, next(n for n, output in zip(giver.written, giver.outputs, strict=True) if output is value)
        for use in value.uses:
            if isinstance(use.operation, LaunchOp):
                yield use.operation, use.index


def _compact(memory: SSAValue) -> Order | None:
    """XLA's order of the dimensions, where that is not row by row and blocks can be transposed to it.

    Mosaic swaps the last two dimensions, and exchanges rows with dimensions further out.
    """
    type = array_type(memory)
    shape, rank = type.get_shape(), type.get_num_dims()
    element = type.element_type
    if rank < 2 or open_extents(shape) or not isinstance(element, FixedBitwidthType):
        return None
    order, plain = compact_order(shape, max(8, element.bitwidth)), (*range(rank),)
    keeps_lanes = order[-1] == rank - 1
    return order if order != plain and (keeps_lanes or order[:-2] == plain[:-2]) else None


def _may_be_reordered(memory: SSAValue, order: Order, analysis: IndexAnalysis) -> bool:
    """Whether blocks of what becomes the last two dimensions are whole tiles of the reordered array too.

    Scalar memory, which loads pick single elements from, has no tiles.
    """
    type, accesses = array_type(memory), users(memory)
    if not accesses:
        return False
    if Budget.is_scalar_memory(prod(type.get_shape())) and all(map(_picks, accesses)):
        return True
    shape, tile_rows = type.get_shape(), max(SUBLANES, copied_multiple(type, type.get_num_dims() - 2))
    *_, rows, lanes = order
    return all(
        isinstance(op, LoadOp | StoreOp)
        and op.mask is None
        and not op.gathers
        and _is_whole(op.entries[lanes], shape[lanes], LANES, analysis)
        and _is_whole(op.entries[rows], shape[rows], tile_rows, analysis)
        for op in accesses
    )


def _picks(op: Operation) -> bool:
    """Whether an access loads a single element."""
    return isinstance(op, LoadOp) and op.mask is None and all(map(is_number, op.entries))


def _is_whole(entry: Entry, extent: int, multiple: int, analysis: IndexAnalysis) -> bool:
    """Whether an index is the whole dimension, or a block of a multiple of so many elements that begins at one."""
    if isinstance(entry, AllAttr):
        return True
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return False
    bound = binding(entry)
    if entry is bound.value and bound.lower == 0 and bound.size >= extent:
        return True
    return bound.size % multiple == 0 and analysis.begin(entry).divisor % bound.size == 0
