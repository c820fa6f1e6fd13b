"""Parts of values: what a slice of a value is where the values that it is made of are sliced in its place.

A part of a load is a load of less, and one of a concatenation may be an input. Ops that compute lane by lane, or that
move whole dimensions, hand a slice on to their operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from kopt.analysis.bottom_up import bottom_up, users_of
from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.dialects.tile import array_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr, block_axes
from kopt.dialects.tile.memory import memory_shape
from kopt.passes.replacing import replacing

#: Offset, size and stride of each dimension, in lanes.
Bounds: TypeAlias = tuple[tuple[int, int, int], ...]

#: Ops that cost nothing, or little, if they are done twice.
_FREE = (tile.CastOp, tile.BroadcastOp, tile.ReshapeOp, tile.TransposeOp, tile.SliceOp, tile.ConcatOp)


class Cuts:
    """Makes parts of values. ``split`` are stores that become stores of parts."""

    def __init__(self, split: set[Operation]):
        self._split = split
        self._made: dict[tuple[SSAValue, Bounds], SSAValue] = {}
        self._last: dict[Operation, Operation] = {}

    def can_cut(self, value: SSAValue, bounds: Bounds) -> bool:
        """Whether a part is made of loads of less and of whole values, and nothing that costs is done twice."""
        left, seen = [(value, bounds)], set[tuple[SSAValue, Bounds]]()
        while left:
            part = left.pop()
            if part in seen:
                continue
            seen.add(part)
            operands = self._cut_through(*part)
            if operands is None:
                return False
            left += operands
        return True

    def _cut_through(self, value: SSAValue, bounds: Bounds) -> Sequence[tuple[SSAValue, Bounds]] | None:
        """The parts that have to be there for a part; None where it cannot be cut."""
        op = value.owner
        if bounds == whole(value) or isinstance(op, tile.FullOp | tile.ArangeOp):
            return ()
        if isinstance(op, Block):
            return None
        if isinstance(op, tile.LoadOp):
            return None if _part_of_load(op, bounds) is None else ()
        return _operands(op, bounds) if isinstance(op, _FREE) or self._dissolves(value) else None

    def cut(self, value: SSAValue, bounds: Bounds) -> SSAValue:
        """The part, where the value is made; first of all what it is made of, however long the chain is."""
        left = [(value, bounds)]
        while left:
            missing = [part for part in self._made_of(*left[-1]) if self._found(*part) is None]
            if missing:
                left += reversed(missing)
                continue
            part = left.pop()
            if self._found(*part) is None:
                self._made[part] = self._part(*part)
        found = self._found(value, bounds)
        assert found is not None
        return found

    def _found(self, value: SSAValue, bounds: Bounds) -> SSAValue | None:
        """The part, where it is there already."""
        return value if bounds == whole(value) else self._made.get((value, bounds))

    def _made_of(self, value: SSAValue, bounds: Bounds) -> Sequence[tuple[SSAValue, Bounds]]:
        """The parts that a part is made of."""
        op = value.owner
        assert isinstance(op, Operation)
        ends = bounds == whole(value) or isinstance(op, tile.LoadOp | tile.FullOp | tile.ArangeOp)
        return () if ends else _operands(op, bounds) or ()

    def _part(self, value: SSAValue, bounds: Bounds) -> SSAValue:
        """Makes a part of those that it is made of."""
        op = value.owner
        assert isinstance(op, Operation)
        if isinstance(op, tile.SliceOp | tile.ConcatOp):
            (part,) = self._made_of(value, bounds)
            found = self._found(*part)
            assert found is not None
            return found
        made = self._make(op, bounds)
        made.name_hint = value.name_hint
        # Parts stand in the order in which they are asked for.
        assert isinstance(made.owner, Operation)
        self._last[op] = made.owner
        return made

    def _make(self, op: Operation, bounds: Bounds) -> SSAValue:
        build = Builder(InsertPoint.after(self._last.get(op, op)), op)
        type = cut_type(tile.tile_type(op.results[0]), bounds)
        if isinstance(op, tile.LoadOp):
            entries = _part_of_load(op, bounds)
            assert entries is not None
            return build.add(replacing(op, tile.LoadOp(op.memory, entries, None, None, op.pad, op.attributes)))
        if isinstance(op, tile.FullOp):
            return build.add(tile.FullOp(op.number, type))
        if isinstance(op, tile.ArangeOp):
            ((offset, _, stride),) = bounds
            step = op.step.data
            return build.add(tile.ArangeOp(op.start.data + offset * step, step * stride, type))
        parts = [self._found(*part) for part in self._made_of(op.results[0], bounds)]
        return build.add(_again(op, [part for part in parts if part is not None], type))

    @bottom_up(users_of)
    def _dissolves(self, value: SSAValue) -> bool:
        """Whether all that uses a value uses parts of it."""
        return all(
            isinstance(use.operation, tile.SliceOp)
            or use.operation in self._split
            or isinstance(use.operation, (*tile.LANEWISE, *_FREE))
            and self._dissolves(use.operation.results[0])
            for use in value.uses
        )


def whole(value: SSAValue) -> Bounds:
    """The bounds of all lanes."""
    return tuple((0, size, 1) for size in tile.tile_type(value).shape)


def cut_type(type: tile.TileType, bounds: Bounds) -> tile.TileType:
    """The type of a part."""
    pairs = zip(type.dims.data, bounds, strict=True)
    return type.with_dims(dim if dim.size.data == size else size for dim, (_, size, _) in pairs)


def _again(op: Operation, parts: Sequence[SSAValue], made: tile.TileType) -> Operation:
    """The op on parts of its operands."""
    match op:
        case tile.CastOp():
            return tile.CastOp(parts[0], made.element_type)
        case tile.BitcastOp():
            return tile.BitcastOp(parts[0], made.element_type)
        case tile.SelectOp():
            return tile.SelectOp(parts[0], parts[1], parts[2])
        case tile.BroadcastOp():
            return tile.BroadcastOp(parts[0], op.mapping, made)
        case tile.ReshapeOp():
            return tile.ReshapeOp(parts[0], made)
        case tile.TransposeOp():
            return tile.TransposeOp(parts[0], op.order)
        case _:
            assert isinstance(op, tile.ElementwiseOp)
            return type(op)(*parts, attributes=op.attributes)


def _operands(op: Operation, bounds: Bounds) -> list[tuple[SSAValue, Bounds]] | None:
    """The parts of its operands that a part of an op's result is made of; None where it is made of other lanes."""
    if isinstance(op, tile.LANEWISE):
        return [(value, bounds) for value in op.operands]
    rule = _MOVING.get(type(op))
    return None if rule is None else rule(op, bounds)


def _of_broadcast(op: tile.BroadcastOp, bounds: Bounds) -> list[tuple[SSAValue, Bounds]]:
    pairs = zip(op.input_type.shape, op.mapping, strict=True)
    kept = (bounds[place] if size == op.result_type.shape[place] else (0, 1, 1) for size, place in pairs)
    return [(op.input, tuple(kept))]


def _of_reshape(op: tile.ReshapeOp, bounds: Bounds) -> list[tuple[SSAValue, Bounds]] | None:
    """Where dimensions of one lane come and go, and nothing else."""
    long = [bound for bound, size in zip(bounds, op.result_type.shape, strict=True) if size != 1]
    sizes = [size for size in op.input_type.shape if size != 1]
    if sizes != [size for size in op.result_type.shape if size != 1]:
        return None
    rest = iter(long)
    return [(op.input, tuple((0, 1, 1) if size == 1 else next(rest) for size in op.input_type.shape))]


def _of_transpose(op: tile.TransposeOp, bounds: Bounds) -> list[tuple[SSAValue, Bounds]]:
    return [(op.input, tuple(bounds[op.order.index(dim)] for dim in range(len(bounds))))]


def _of_slice(op: tile.SliceOp, bounds: Bounds) -> list[tuple[SSAValue, Bounds]]:
    pairs = zip(op.bounds, bounds, strict=True)
    return [(op.input, tuple((a + offset * c, size, c * stride) for (a, _, c), (offset, size, stride) in pairs))]


def _of_concat(op: tile.ConcatOp, bounds: Bounds) -> list[tuple[SSAValue, Bounds]] | None:
    """Where one input has all the lanes."""
    dim, start = op.dim.data, 0
    first, size, stride = bounds[dim]
    for value in op.inputs:
        type = tile.tile_type(value)
        end = start + type.shape[dim]
        if start <= first and first + max(size - 1, 0) * stride < end:
            inside = (first - start, size, stride)
            return [(value, (*bounds[:dim], inside, *bounds[dim + 1 :]))] if not type.tags[dim] else None
        start = end
    return None


_MOVING: dict[type[Operation], Callable[..., list[tuple[SSAValue, Bounds]] | None]] = {
    tile.BroadcastOp: _of_broadcast,
    tile.ReshapeOp: _of_reshape,
    tile.TransposeOp: _of_transpose,
    tile.SliceOp: _of_slice,
    tile.ConcatOp: _of_concat,
}


@bottom_up()
def joint(value: SSAValue, dim: int) -> list[int] | None:
    """Where along a dimension the inputs of a concatenation begin that a value is made of lane by lane, and its end."""
    op = value.owner
    if isinstance(op, tile.ConcatOp) and op.dim.data == dim:
        starts = [0]
        for part in op.inputs:
            starts.append(starts[-1] + tile.tile_type(part).shape[dim])
        return starts
    if isinstance(op, tile.LANEWISE):
        return next((found for part in op.operands if (found := joint(part, dim)) is not None), None)
    if isinstance(op, tile.BroadcastOp) and dim in op.mapping:
        place = op.mapping.index(dim)
        same = op.input_type.shape[place] == op.result_type.shape[dim]
        return joint(op.input, place) if same else None
    return None


def entry_of_dim(op: tile.LoadOp | tile.StoreOp, dim: int) -> tuple[int, SliceAttr] | None:
    """The position of the slice that a dimension of the block comes from, or None where it is no slice."""
    shape = memory_shape(array_type(op.memory))
    axis = block_axes(op.entries, shape)[dim]
    entry = op.entries[axis.position]
    if isinstance(entry, AllAttr):
        return axis.position, SliceAttr(0, shape[axis.position])
    return (axis.position, entry) if isinstance(entry, SliceAttr) else None


def part_of_slice(taken: SliceAttr, offset: int, size: int, stride: int = 1) -> SliceAttr:
    """Elements ``offset``, ``offset + stride``, … of a slice, ``size`` of them."""
    step = taken.step.data * stride
    start = taken.start.data + offset * taken.step.data
    return SliceAttr(start, start + max(size - 1, 0) * step + (size > 0), step)


def _part_of_load(load: tile.LoadOp, bounds: Bounds) -> list[Entry] | None:
    """The index list of a part of what is loaded, or None where an access has no such part."""
    if load.mask is not None:
        return None
    entries: list[Entry] = list(load.entries)
    for dim, (bound, size) in enumerate(zip(bounds, tile.tile_type(load.result).shape, strict=True)):
        if bound == (0, size, 1):
            continue
        found = entry_of_dim(load, dim)
        if found is None:
            return None
        position, taken = found
        entries[position] = part_of_slice(taken, *bound)
    return entries
