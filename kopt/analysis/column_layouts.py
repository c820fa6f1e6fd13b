"""Which arrays of launches XLA lays out by columns, and kernels can take so. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.aliases import users
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Entry, LoadOp, RangeType, StoreOp, array_type
from kopt.dialects.tile.index_list import AllAttr
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import binding
from kopt.open_extents import open_extents
from kopt.targets.tiling import LANES, compact_order, sublanes
from kopt.walk import walk

_Array = tuple[LaunchOp, int]


def by_columns(top: Operation) -> list[_Array]:
    """Launches and the numbers of their arrays whose last two dimensions XLA swaps, and the launch may swap too.

    What one launch gives another is swapped in both or in neither.
    """
    analysis = IndexAnalysis()
    found = [
        (launch, number)
        for launch in walk(top, LaunchOp)
        for number, memory in enumerate(launch.body.block.args)
        if _is_swapped(memory) and _may_be_swapped(memory, analysis)
    ]
    while alone := {array for array in found if not {*found}.issuperset(_same(array))}:
        found = [array for array in found if array not in alone]
    return found


def _same(array: _Array) -> Iterator[_Array]:
    """The arrays of other launches that are the same array of the host, before the launch or behind it."""
    launch, number = array
    values = [launch.inputs[number]] if number < len(launch.inputs) else []
    if number in launch.written:
        values.append(launch.outputs[launch.written.index(number)])
    for value in values:
        if isinstance(giver := value.owner, LaunchOp):
            yield giver, next(n for n, output in zip(giver.written, giver.outputs, strict=True) if output is value)
        for use in value.uses:
            if isinstance(use.operation, LaunchOp):
                yield use.operation, use.index


def _is_swapped(memory: SSAValue) -> bool:
    """Whether XLA's order of the dimensions swaps the last two, and no others."""
    type = array_type(memory)
    shape, rank = type.get_shape(), type.get_num_dims()
    element = type.element_type
    if rank < 2 or open_extents(shape) or 0 in shape or not isinstance(element, FixedBitwidthType):
        return False
    return compact_order(shape, max(8, element.bitwidth)) == (*range(rank - 2), rank - 1, rank - 2)


def _may_be_swapped(memory: SSAValue, analysis: IndexAnalysis) -> bool:
    """Whether blocks of the last two dimensions are whole tiles of the transposed array too."""
    *_, rows, columns = array_type(memory).get_shape()
    accesses = users(memory)
    return bool(accesses) and all(
        isinstance(op, LoadOp | StoreOp)
        and op.mask is None
        and not op.gathers
        and _is_whole(op.entries[-2], rows, LANES, analysis)
        and _is_whole(op.entries[-1], columns, sublanes(8), analysis)
        for op in accesses
    )


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
