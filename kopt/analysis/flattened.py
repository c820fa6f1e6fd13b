"""Ranges that walk arrays lane by lane which are flattened views, and how long the rows of these are. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue

from kopt.analysis.aliases import users
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import (
    LANEWISE,
    FullOp,
    GridOp,
    LoadOp,
    SplatOp,
    StoreOp,
    TileType,
    array_type,
    tag_of,
)
from kopt.dtypes import from_ir
from kopt.ir.ranges import binding
from kopt.open_extents import open_extents
from kopt.targets.tiling import LANES, sublanes
from kopt.walk import walk

#: Ops whose lanes do not depend on one another, nor on where they stand.
_LANE_BY_LANE = (*LANEWISE, FullOp, LoadOp, SplatOp, StoreOp)


class FlattenedRows(NamedTuple):
    """Rows of flattened arrays: the elements of one, and of the ``least`` block of whole tiles of them, or of all."""

    length: int
    least: int


def flattened_rows(range: SSAValue) -> FlattenedRows | None:
    """The rows of all arrays that a grid's range walks, where each is such an array's flattened view.

    None where it walks others too or a part of them, where rows differ or are shorter than a vector register, and where
    what is computed of a block depends on where its lanes stand.
    """
    bound = binding(range)
    grid, accesses = bound.owner, [*dict.fromkeys(use.operation for use in range.uses)]
    if not isinstance(grid, GridOp) or bound.lower != 0 or not isinstance(bound.upper, int):
        return None
    memories: set[SSAValue] = set()
    for op in accesses:
        if not isinstance(op, LoadOp | StoreOp) or op.entries != (range,):
            return None
        memories.add(op.memory)
    (length, *others) = {_length(view) for memory in memories for view in _views(memory)} or {None}
    if others or length is None or length < LANES:
        return None
    whole = all(array_type(memory).get_shape() == (bound.upper,) for memory in memories)
    elsewhere = {user for memory in memories for user in users(memory)}.difference(accesses)
    alone = not any(grid.is_ancestor(user) for user in elsewhere)
    if not whole or not alone or not _is_lane_by_lane(grid, tag_of(range)):
        return None
    dtypes = [from_ir(array_type(memory).element_type) for memory in memories]
    rows = sublanes(min((dtype.bits for dtype in dtypes if dtype is not None), default=32))
    return FlattenedRows(length, min(length * rows, bound.upper))


def _is_lane_by_lane(grid: GridOp, tag: str) -> bool:
    """Whether all values with lanes of a tag are vectors of them, of ops that go lane by lane."""
    for op in walk(grid):
        arguments = (arg for region in op.regions for block in region.blocks for arg in block.args)
        values = [*op.operands, *op.results, *arguments]
        types = [type for value in values if isinstance(type := value.type, TileType) and tag in type.tags]
        if types and not (isinstance(op, _LANE_BY_LANE) and all(type.rank == 1 for type in types)):
            return False
    return True


def _views(memory: SSAValue) -> Iterator[Operation | None]:
    """What gives a memref its elements, and takes them."""
    launch = memory.owner.parent_op() if isinstance(memory, BlockArgument) else None
    if not isinstance(launch, LaunchOp):
        yield memory.owner if isinstance(memory.owner, Operation) else None
        return
    assert isinstance(memory, BlockArgument)
    number = memory.index
    if number < len(launch.inputs):
        source = launch.inputs[number].owner
        yield source if isinstance(source, Operation) else None
    if number in launch.written:
        result = launch.version_of(number)
        yield from (use.operation for use in result.uses)


def _length(view: Operation | None) -> int | None:
    if not isinstance(view, ReshapeOp):
        return None
    shapes = [type.get_shape() for type in (view.source_type, view.result_type) if isinstance(type, MemRefType)]
    (shape, *others) = [shape for shape in shapes if len(shape) > 1] or [()]
    return None if others or not shape or open_extents(shape) else shape[-1]
