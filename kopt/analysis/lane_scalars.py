"""Tiles of numbers that can be computed lane by lane, as scalars: what a loop over their lanes needs of them. Pure.

A scalar unit reads scalar memory and computes one number at a time. A tile can be had so where it is made, by
elementwise operations, of constants, of lane numbers, of spread scalars and of arrays that stand in scalar memory.

| value | one lane of it |
|---|---|
| ``tile.load %ids[%i]``, ``tile.get %ids[%i]`` | the element ``begin %i + lane`` |
| ``tile.index %i``, ``tile.arange`` | ``begin %i + lane``, ``start + step · lane`` |
| ``tile.full``, ``tile.splat`` | the number |
| ``tile.broadcast`` | of the source the lane along its own dimensions |
| ``tile.reshape`` that adds or drops dimensions of one lane | that of the source, along the others |
| ``tile.dynamic_slice %v from %o`` | of the source ``%o + lane`` |
| ``tile.cast``, ``tile.select`` and other elementwise operations of integers | that of the lanes |
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from kopt.analysis.layouts import scalar_words
from kopt.analysis.storage import stored_bits
from kopt.analysis.windows import Window
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BroadcastOp,
    CastOp,
    DynamicSliceOp,
    FullOp,
    GetOp,
    IndexOp,
    LoadOp,
    ReshapeOp,
    SelectOp,
    SplatOp,
    TileType,
    element_of,
    is_gather,
    tile_type,
)
from kopt.targets.budget import Budget

#: Operations that compute each lane by itself.
LANE_BY_LANE = (*ELEMENTWISE.values(), CastOp, SelectOp)
#: Those whose lanes are numbers of their own.
SOURCES = (FullOp, SplatOp, IndexOp, ArangeOp)


def reads_of(value: SSAValue, is_read: Callable[[LoadOp | GetOp], bool]) -> list[LoadOp | GetOp] | None:
    """The reads that a tile is made of lane by lane; None where it cannot be, or one of them is none that may be."""
    reads: list[LoadOp | GetOp] = []
    found, left = {value}, [value]
    while left:
        value = left.pop()
        op = value.owner
        if not isinstance(op, Operation) or not isinstance(element_of(value), IntegerType):
            return None
        if isinstance(op, LoadOp | GetOp):
            if not _is_plain(op) or not is_read(op):
                return None
            reads.append(op)
        elif isinstance(op, (*LANE_BY_LANE, BroadcastOp, DynamicSliceOp)) or keeps_places(op):
            left += (new := [operand for operand in dict.fromkeys(tiles_of(op)) if operand not in found])
            found.update(new)
        elif not isinstance(op, SOURCES):
            return None
    return reads


def keeps_places(op: Operation) -> bool:
    """Whether a value is reshaped by dimensions of one lane alone."""
    if not isinstance(op, ReshapeOp):
        return False
    shapes = (tile_type(value).shape for value in (op.input, op.result))
    before, after = ([size for size in shape if size != 1] for shape in shapes)
    return before == after


def tiles_of(op: Operation) -> list[SSAValue]:
    """The operands whose lanes an operation's lanes are computed of."""
    return [operand for operand in op.operands if isinstance(operand.type, TileType)]


def is_in_scalar_memory(read: LoadOp | GetOp) -> bool:
    """Whether what a kernel reads stands in scalar memory."""
    return isinstance(read, GetOp) and read.memory.type.space.data == "smem"  # pyright: ignore


def gives_row_numbers(window: Window) -> bool:
    """Whether a small array of integers is read for nothing but the numbers of rows that loads have, which DMAs fetch.

    Numbers that another array has a part in come the usual way: that array may be needed on the vector unit.
    """
    if window.written or stored_bits(window.type) != 32 or not isinstance(window.type.element_type, IntegerType):
        return False
    if not Budget.is_scalar_memory(scalar_words(window.type.get_shape())):
        return False
    return bool(window.loads) and all(_is_plain(load) and _ends_in_rows(load.result) for load in window.loads)


def _is_plain(read: LoadOp | GetOp) -> bool:
    """Whether a read is of blocks, without a mask and what stands for masked lanes."""
    masked = isinstance(read, LoadOp) and (read.mask is not None or read.pad is not None)
    return not masked and not any(map(is_gather, read.entries))


def _ends_in_rows(value: SSAValue) -> bool:
    """Whether all that is computed of a tile are row numbers, lane by lane."""
    found, left = {value}, [value]
    are_rows: list[bool] = []
    while left:
        value = left.pop()
        for use in value.uses:
            op = use.operation
            if isinstance(op, (*LANE_BY_LANE, BroadcastOp)) and isinstance(element_of(op.results[0]), IntegerType):
                if op.results[0] not in found:
                    found.add(op.results[0])
                    left.append(op.results[0])
            else:
                are_rows.append(isinstance(op, LoadOp) and value in op.indices and _is_of_one_array(value))
    return bool(are_rows) and all(are_rows)


def _is_of_one_array(numbers: SSAValue) -> bool:
    """Whether row numbers are made of one array's, lane by lane."""
    reads = reads_of(numbers, lambda _: True)
    return reads is not None and len({read.memory for read in reads}) == 1
