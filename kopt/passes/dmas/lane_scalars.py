"""One lane of a tile as a scalar: the operations that made the tile, on the numbers of that lane."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from kopt.analysis.lane_scalars import tiles_of
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ArangeOp,
    BeginOp,
    BroadcastOp,
    DynamicSliceOp,
    FullOp,
    GetOp,
    IndexOp,
    RefType,
    ReshapeOp,
    SliceAttr,
    SplatOp,
    TileType,
    element_of,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_axes, is_range
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.replacing import replacing

#: What the numbers of lanes come from: their operands are no tiles of lanes.
_LEAVES = (GetOp, FullOp, SplatOp, IndexOp, ArangeOp)
_Lane = tuple[SSAValue, ...]


class LaneScalars:
    """Computes lanes of a tile that can be had lane by lane (`kopt.analysis.lane_scalars`).

    ``outside`` stands in front of the loop over the lanes: where ranges begin is asked there, once. What ``copies`` has
    is read from the copies.
    """

    def __init__(self, value: SSAValue, outside: Builder, copies: Mapping[SSAValue, SSAValue] | None = None):
        self.value, self.outside, self.copies = value, outside, copies or {}
        self._begins: dict[SSAValue, SSAValue] = {}
        self._prepare(value, set())

    def at(self, lanes: Sequence[SSAValue], build: Builder) -> SSAValue:
        """The number of one lane, by its place along each dimension.

            %n = tile.minimum (tile.get %ids[%i]), %most : !tile.tile<b0=512 x i32>
        becomes
            %n = tile.minimum (tile.get %ids[begin %i + %r]), %most : !tile.tile<i32>
        """
        return self._lane(self.value, list(lanes), build, {})

    def _prepare(self, value: SSAValue, seen: set[SSAValue]) -> None:
        op = value.owner
        assert isinstance(op, Operation)
        entries = op.entries if isinstance(op, GetOp) else op.operands if isinstance(op, IndexOp) else ()
        for entry in filter(is_range, entries):
            if entry not in self._begins:
                self._begins[entry] = self.outside.add(BeginOp(entry))
        for operand in () if isinstance(op, _LEAVES) else tiles_of(op):
            if operand not in seen:
                seen.add(operand)
                self._prepare(operand, seen)

    def _lane(self, value: SSAValue, lanes: Sequence[SSAValue], build: Builder, known: dict[_Lane, SSAValue]):
        if (value, *lanes) not in known:
            op, scalar = value.owner, TileType([], element_of(value))
            assert isinstance(op, Operation)
            if isinstance(op, BroadcastOp):
                found = self._lane(op.input, _of_source(op, lanes, build), build, known)
            elif isinstance(op, ReshapeOp):
                found = self._lane(op.input, _reshaped(op, lanes, build), build, known)
            elif isinstance(op, DynamicSliceOp):
                found = self._lane(op.input, _shifted(op, lanes, build), build, known)
            elif isinstance(op, _LEAVES):
                found = self._leaf(op, lanes, build, scalar)
            else:
                operands = [self._lane(operand, lanes, build, known) for operand in op.operands]
                found = build.add(type(op).create(operands=operands, properties=op.properties, result_types=[scalar]))
            known[value, *lanes] = found
        return known[value, *lanes]

    def _leaf(self, op: Operation, lanes: Sequence[SSAValue], build: Builder, scalar: TileType) -> SSAValue:
        if isinstance(op, GetOp):
            memory = self.copies.get(op.memory, op.memory)
            return build.add(replacing(op, GetOp(memory, self._element(op, lanes, build), scalar)))
        if isinstance(op, FullOp):
            return build.add(FullOp(op.value, scalar))
        if isinstance(op, SplatOp):
            return build.add(SplatOp(op.scalar, scalar))
        if isinstance(op, IndexOp):
            return build.add(SplatOp(self._in_range(op.range, lanes[0], build), scalar))
        assert isinstance(op, ArangeOp)
        return build.add(SplatOp(_scaled(lanes[0], op.start.data, op.step.data, build), scalar))

    def _element(self, get: GetOp, lanes: Sequence[SSAValue], build: Builder) -> list[Entry]:
        """The place of one lane of what a read takes; lanes behind the array's end are as its last element."""
        assert isinstance(get.memory.type, RefType)
        shape, entries = get.memory.type.shape, list(get.entries)
        for lane, axis in zip(lanes, block_axes(entries, shape), strict=True):
            entry, extent = entries[axis.position], shape[axis.position]
            if isinstance(entry, SliceAttr):
                entries[axis.position] = _scaled(lane, entry.start.data, entry.step.data, build)
            elif is_range(entry):
                place = self._in_range(entry, lane, build)
                last = IndexAnalysis().begin(entry).range.high
                beyond = last is None or last + axis.dim.size.data > extent
                clamped = arith.MinSIOp(place, build.index(extent - 1)) if beyond else None
                entries[axis.position] = place if clamped is None else build.add(clamped)
            else:
                entries[axis.position] = lane
        return entries

    def _in_range(self, range: SSAValue, lane: SSAValue, build: Builder) -> SSAValue:
        return build.add(arith.AddiOp(self._begins[range], lane))


def _of_source(op: BroadcastOp, lanes: Sequence[SSAValue], build: Builder) -> list[SSAValue]:
    """The lane of what is repeated, for a lane of the whole."""
    shape = tile_type(op.input).shape
    return [build.index(0) if size == 1 else lanes[n] for n, size in zip(op.mapping, shape, strict=True)]


def within(number: SSAValue, last: int, build: Builder) -> SSAValue:
    """A number, or the nearest one from 0 to the last, where it is not known to be one of these."""
    known = IndexAnalysis().expr(number).range
    if known.low is None or known.low < 0:
        number = build.add(arith.MaxSIOp(number, build.index(0)))
    if known.high is None or known.high > last:
        number = build.add(arith.MinSIOp(number, build.index(last)))
    return number


def _reshaped(op: ReshapeOp, lanes: Sequence[SSAValue], build: Builder) -> list[SSAValue]:
    """The lane of what has other dimensions of one lane."""
    places = iter(lane for lane, size in zip(lanes, tile_type(op.result).shape, strict=True) if size != 1)
    return [build.index(0) if size == 1 else next(places) for size in tile_type(op.input).shape]


def _shifted(op: DynamicSliceOp, lanes: Sequence[SSAValue], build: Builder) -> list[SSAValue]:
    """The lane of the whole for one of the part; those from outside are as the first or last one."""
    dim = op.dim.data
    last = tile_type(op.input).shape[dim] - 1
    place = within(build.add(arith.AddiOp(lanes[dim], op.offset)), last, build)
    return [place if number == dim else lane for number, lane in enumerate(lanes)]


def _scaled(lane: SSAValue, start: int, step: int, build: Builder) -> SSAValue:
    place = lane if step == 1 else build.add(arith.MuliOp(lane, build.index(step)))
    return place if start == 0 else build.add(arith.AddiOp(place, build.index(start)))
