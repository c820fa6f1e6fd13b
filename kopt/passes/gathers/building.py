"""Makes ops in front of one access, and arrays in front of its launch."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, UnitAttr, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.host import CallOp, LaunchOp, ReshapeOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    FullOp,
    LoadOp,
    SelectOp,
    TakeAlongOp,
    TileType,
    array_type,
    literal,
    tile_type,
)
from kopt.dialects.tile import ReshapeOp as TileReshapeOp
from kopt.dialects.tile.index_list import Entry


class LoadBuilder:
    """Inserts ops before a load, at its place in the source."""

    def __init__(self, load: LoadOp):
        self.load = load
        self._at = InsertPoint.before(load)

    def add(self, op: Operation) -> SSAValue:
        """Inserts an op; gives its result."""
        op.location = self.load.location
        Rewriter.insert_op(op, self._at)
        return op.results[0]

    def compute(self, name: str, value: SSAValue, number: int) -> SSAValue:
        """An elementwise op of an i32 tile and a number."""
        return self.add(ELEMENTWISE[name](value, self.add(FullOp(number, tile_type(value)))))

    def clamped(self, index: SSAValue, extent: int) -> SSAValue:
        """Row numbers as i32 inside an array: what lanes outside their range hold may be anything."""
        if tile_type(index).element_type != i32:
            index = self.add(CastOp(index, i32))
        return self.compute("maximum", self.compute("minimum", index, extent - 1), 0)

    def reshape(self, value: SSAValue, dims: Sequence) -> SSAValue:
        """The same lanes under other dimensions."""
        type = tile_type(value).with_dims(dims)
        return value if type == value.type else self.add(TileReshapeOp(value, type))

    def pick(self, value: SSAValue, dim: int, index: SSAValue, at: int) -> SSAValue:
        """One lane of dimension ``dim`` for each gathered place; the dimension disappears.

        The dimensions of ``index`` are dimensions ``at``, ``at + 1``, … of the value.
        """
        dims = list(tile_type(value).dims.data)
        places = range(at, at + tile_type(index).rank)
        lane = TileType([*dims[:dim], 1, *dims[dim + 1 :]], i32)
        wide = self.add(BroadcastOp(index, list(places), lane))
        return self.reshape(self.add(TakeAlongOp(value, wide, dim)), [*dims[:dim], *dims[dim + 1 :]])


def replace_load(load: LoadOp, value: SSAValue) -> None:
    """Puts a block in a load's place; masked lanes take the load's ``other``."""
    if load.mask is not None:
        build = LoadBuilder(load)
        other = build.add(FullOp(load.other or literal(0, tile_type(value).element_type), tile_type(value)))
        value = build.add(SelectOp(load.mask, value, other))
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def with_entries(load: LoadOp, entries: Sequence[Entry], memory: SSAValue | None = None) -> LoadOp:
    """Puts the load of the same block by another index list, maybe of another array, in a load's place."""
    found = LoadOp(memory or load.memory, entries, load.mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    Rewriter.replace_op(load, found)
    return found


class Arrays:
    """Gives a launch further arrays, made from those it has by host ops before it."""

    def __init__(self, launch: LaunchOp):
        self.launch = launch
        self._added: dict[tuple[SSAValue, tuple[int, ...], tuple[int, ...]], SSAValue] = {}

    def view(self, memory: SSAValue, padded: Sequence[int], shape: Sequence[int]) -> SSAValue:
        """The launch's own argument for an array padded with zeros at its ends and reshaped."""
        key = (memory, tuple(padded), tuple(shape))
        if key not in self._added:
            source = self.launch.inputs[self.launch.body.block.args.index(memory)]
            self._added[key] = self.take(self._reshape(self._pad(source, padded), shape), memory.name_hint)
        return self._added[key]

    def reshaped(self, source: SSAValue, shape: Sequence[int], memory: SSAValue) -> SSAValue:
        """The launch's own argument for an array of the host in another shape, named like one that it has."""
        key = (source, (), tuple(shape))
        if key not in self._added:
            hint = source.name_hint or memory.name_hint
            self._added[key] = self.take(self._reshape(source, shape), hint)
        return self._added[key]

    def take(self, source: SSAValue, hint: str | None) -> SSAValue:
        """A new argument of the launch for an array of the host."""
        block = self.launch.body.block
        argument = block.insert_arg(source.type, len(self.launch.inputs))
        argument.name_hint = hint
        self.launch.operands = [*self.launch.operands, source]
        return argument

    def again(self, memory: SSAValue) -> SSAValue:
        """A further argument for one of the launch's arrays, as it is before the launch."""
        source = self.launch.inputs[self.launch.body.block.args.index(memory)]
        if (source, (), ()) not in self._added:
            self._added[source, (), ()] = self.take(source, memory.name_hint)
        return self._added[source, (), ()]

    def fetched(self, source: SSAValue, memory: SSAValue) -> SSAValue:
        """The launch's own argument for the array of the host behind one that it has, for DMAs alone."""
        key = (source, array_type(source).get_shape(), ())
        if key not in self._added:
            self._added[key] = self.take(source, source.name_hint or memory.name_hint)
        return self._added[key]

    def _add(self, op: Operation) -> SSAValue:
        op.location = self.launch.location
        Rewriter.insert_op(op, InsertPoint.before(self.launch))
        return op.results[0]

    def _pad(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = array_type(source)
        before = type.get_shape()
        if tuple(shape) == before:
            return source
        pads = [number for n, m in zip(reversed(before), reversed(shape), strict=True) for number in (0, m - n)]
        numbers = ArrayAttr([IntegerAttr(number, i64) for number in pads])
        zero = literal(0, type.element_type)
        padded = MemRefType(type.element_type, shape)
        return self._add(CallOp("aten.constant_pad_nd.default", [source], [UnitAttr(), numbers, zero], [padded]))

    def _reshape(self, source: SSAValue, shape: Sequence[int]) -> SSAValue:
        type = array_type(source)
        if tuple(shape) == type.get_shape():
            return source
        return self._add(ReshapeOp(source, MemRefType(type.element_type, shape)))
