"""Rows by computed numbers: a DMA for each number, all of them on their way together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.lane_scalars import is_in_scalar_memory, reads_of
from kopt.analysis.revisit_order import fastest, grid_of
from kopt.analysis.row_copies import Cut, row_copies
from kopt.diagnostics import location_of
from kopt.dialects.builder import Builder
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp, DmaWaitOp, Overlap
from kopt.dialects.tile import (
    ALL,
    BeginOp,
    ConcatOp,
    DimAttr,
    DynamicSliceOp,
    ExtractOp,
    FullOp,
    GetOp,
    PutOp,
    RefType,
    ShiftOp,
    SliceAttr,
    SliceOp,
    TileType,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.errors import LoweringError
from kopt.passes.binding.accesses import erase_dead
from kopt.passes.dmas.lane_loops import loop_over_lanes
from kopt.passes.dmas.lane_scalars import LaneScalars
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes
from kopt.passes.scratch import scratch_name, scratch_ref
from kopt.targets.tiling import LANES

#: Copies that one visit of a loop starts, of as many places: what a bundle leaves free of one start serves others.
_WRITTEN_OUT, _MANY = 32, 128


@dataclass(frozen=True)
class _Staged:
    """Numbers that stand in scalar memory of their own."""

    ref: SSAValue

    def at(self, lanes: Sequence[SSAValue], build: Builder) -> SSAValue:
        """The number of one lane, by its place along each dimension."""
        return build.add(GetOp(self.ref, lanes))


def realise_rows(access: GetOp | PutOp, call: CallOp) -> None:
    """Puts DMAs of rows in the place of a read or write by numbers.

        tile.put %v, %x[%n, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<500 x 256 x f32, hbm>
    becomes
        tile.put %n, %block[:]   pallas.dma_start %block[:] to %numbers[:] …   pallas.dma_wait …   // to scalar memory
        tile.put %v, %rows[:, 0, :] : !tile.tile<b0=8 x 256 x f32>, !tile.ref<8 x 1 x 256 x f32, vmem>
        tile.for %r in (0, 8) {
          %row = %numbers[%r]
          scf.if %row >= 0 { pallas.dma_start %rows[%r, :, :] to %x[%row, :] signal %moved[0] } }
        tile.for %r in (0, 8) { …   pallas.dma_wait … }   // for each that was started

    A read has the first loop without the condition, and gets its value from the buffer behind one wait for all of it;
    where rows are padded in the buffer, behind a loop of waits. Numbers that are computed lane by lane of what is in
    scalar memory are not brought there: the loop computes them (`kopt.passes.dmas.lane_scalars`).
    """
    _Rows(access, call).realise()


class _Rows:
    """The DMAs of one access. Those of one array take turns with its scratch memory: each is done before the next."""

    def __init__(self, access: GetOp | PutOp, call: CallOp):
        self.access, self.call = access, call
        self.build = Builder(access)
        self.copies = row_copies(access)
        self.own: list[SSAValue] = []
        self.moved = self._scratch(RefType((1,), i32, "semaphore"), "moved")
        self.numbers = {value: self._scalars(value) for value in self.copies.numbers}
        self.overlap = self._overlap()
        assert isinstance(access.memory.type, RefType)
        self.rows = self._scratch(RefType(self.copies.shape, access.memory.type.element_type), "rows")

    def realise(self) -> None:
        if isinstance(self.access, GetOp):
            self._fetch(self.access)
        else:
            self._send(self.access)
        Rewriter.erase_op(self.access)
        for value in self.copies.numbers:  # which loops compute
            erase_dead(value)

    def _fetch(self, get: GetOp) -> None:
        self._for_each_place(DmaStartOp)
        self._await_all()
        axes, dims = block_axes(get.entries, _shape(get.memory)), list(tile_type(get.result).dims.data)
        cuts = [None if axis.gather_dim is not None else self.copies.dims[axis.position].cut for axis in axes]
        whole = [
            dim if cut is None else DimAttr(self.copies.dims[axis.position].lanes)
            for axis, dim, cut in zip(axes, dims, cuts, strict=True)
        ]
        fetched = GetOp(self.rows, self._in_buffer(), tile_type(get.result).with_dims(whole))
        value = self.build.add(replacing(get, fetched))
        for number, cut in enumerate(cuts):
            if cut is not None:
                value = self._cut(value, number, cut, dims[number])
        value.name_hint = get.result.name_hint
        get.result.replace_all_uses_with(value)

    def _send(self, put: PutOp) -> None:
        if any(dim.cut is not None for dim in self.copies.dims):
            raise LoweringError("DMAs move whole tiles of memory, which these blocks of rows are not", location_of(put))
        self.build.insert(replacing(put, PutOp(put.value, self.rows, self._in_buffer())))
        for end in (DmaStartOp, DmaWaitOp):
            self._for_each_place(end)

    def _in_buffer(self) -> list[Entry]:
        """Where the value stands in the buffer."""
        return self.copies.entries([ALL] * len(self.copies.places), 0)

    def _overlap(self) -> Overlap | None:
        """The axis whose cells may fetch each other's rows: where the next one's numbers are known before."""
        grid = grid_of(self.call)
        number = fastest(grid)
        known = all(isinstance(scalars, LaneScalars) for scalars in self.numbers.values())
        if number is None or not known or isinstance(self.access, PutOp) or self.access.parent is not grid.body.block:
            return None
        return Overlap(grid.ranges[number])

    # Copies.

    def _await_all(self) -> None:
        """Waits for all rows that come: at once for the bytes of the buffer, where rows have no padding in it."""
        whole = [ALL] * len(self.copies.shape)
        if self.copies.shape[-1] % LANES == 0:
            self.build.insert(DmaWaitOp(self.rows, whole, self.rows, whole, self.moved, [0]))
        else:
            build, cells = self._loops()
            row = self.copies.entries(cells, ALL)
            build.insert(DmaWaitOp(self.rows, row, self.rows, row, self.moved, [0]))

    def _loops(self, unroll: int = 1) -> tuple[Builder, list[SSAValue]]:
        """Loops over all places, the innermost one written out ``unroll`` times: a builder in it, and its numbers."""
        build, cells = self.build, []
        for number, count in enumerate(self.copies.places):
            innermost = number == len(self.copies.places) - 1 and count >= _MANY
            build, cell = loop_over_lanes(count, gcd(count, unroll) if innermost else 1, build)
            cells.append(cell)
        return build, cells

    def _for_each_place(self, end: type[DmaOp]) -> None:
        build, cells = self._loops(_WRITTEN_OUT if end is DmaStartOp and isinstance(self.access, GetOp) else 1)
        found = {value: scalars.at(cells, build) for value, scalars in self.numbers.items()}
        numbers = {value: build.add(ExtractOp(number, IndexType()), "row") for value, number in found.items()}
        if isinstance(self.access, PutOp):
            build = self._where_named(list(numbers.values()), build)
        array = self.access.memory, [self._of_array(dim.entry, dim.lanes, numbers, build) for dim in self.copies.dims]
        buffer = self.rows, self.copies.entries(cells, ALL)
        places = (*array, *buffer) if isinstance(self.access, GetOp) else (*buffer, *array)
        build.insert(end(*places, self.moved, [0], self.overlap))

    def _where_named(self, numbers: list[SSAValue], build: Builder) -> Builder:
        """A builder of what is done where no number is negative."""
        zero = build.index(0)
        tests = [build.add(arith.CmpiOp(number, zero, "sge")) for number in numbers]
        named = reduce(lambda a, b: build.add(arith.AndIOp(a, b)), tests)
        branch = scf.IfOp(named, [], Region(Block([scf.YieldOp()])))
        build.insert(branch)
        return build.into(branch.true_region.block)

    def _of_array(self, entry: Entry, lanes: int, numbers: dict[SSAValue, SSAValue], build: Builder) -> Entry:
        """What one copy moves of a dimension; one element of a dimension that the buffer has is a block of it."""
        number = numbers.get(entry, entry) if isinstance(entry, SSAValue) else entry
        if isinstance(number, int) and lanes:
            return SliceAttr(number, number + 1)
        if isinstance(number, SSAValue) and isinstance(number.type, IndexType) and lanes:
            one = build.add(all_lanes(1, self.access))
            return build.add(ShiftOp(one, number))
        return number

    # Memory.

    def _scalars(self, numbers: SSAValue) -> LaneScalars | _Staged:
        """The numbers as scalars: computed of what is in scalar memory, or brought there by a DMA."""
        known = reads_of(numbers, is_in_scalar_memory) is not None
        return LaneScalars(numbers, self.build) if known else _Staged(self._staged(numbers))

    def _staged(self, numbers: SSAValue) -> SSAValue:
        """Scalar memory that holds computed numbers, which DMAs alone bring there."""
        shape, whole = tile_type(numbers).shape, [ALL] * tile_type(numbers).rank
        block = self._scratch(RefType(shape, i32), "numbers_block")
        scalars = self._scratch(RefType(shape, i32, "smem"), "numbers")
        self.build.insert(PutOp(self.build.cast(numbers, i32), block, whole))
        for end in (DmaStartOp, DmaWaitOp):
            self.build.insert(end(block, whole, scalars, whole, self.moved, [0]))
        return scalars

    def _scratch(self, type: RefType, what: str) -> SSAValue:
        """Scratch memory for one use, which the array's other accesses by numbers may have asked for."""
        array, name = self.access.memory, scratch_name(self.access.memory, what)
        known = [ref for ref in self.call.scratch if ref.name_hint == name and ref.type == type]
        ref = next((ref for ref in known if ref not in self.own), None) or scratch_ref(self.call, type, array, what)
        self.own.append(ref)
        return ref

    # Values.

    def _cut(self, value: SSAValue, number: int, cut: Cut, dim: DimAttr) -> SSAValue:
        """A block or slice of a dimension that has come whole; lanes behind its end are 0."""
        build, shape = self.build, tile_type(value).shape
        if isinstance(cut.entry, SliceAttr):
            start, step = cut.entry.start.data, cut.entry.step.data
            bounds = [(start, cut.entry.length, step) if n == number else (0, size, 1) for n, size in enumerate(shape)]
            return build.add(SliceOp(value, *zip(*bounds, strict=True)))
        dims = list(tile_type(value).dims.data)
        if rest := cut.lanes - shape[number]:
            dims[number] = DimAttr(rest)
            value = build.add(ConcatOp([value, build.add(FullOp(0, _with_dims(value, dims)))], number))
        dims[number] = dim
        return build.add(DynamicSliceOp(value, build.add(BeginOp(cut.entry)), number, _with_dims(value, dims)))


def _with_dims(value: SSAValue, dims: list[DimAttr]) -> TileType:
    return tile_type(value).with_dims(dims)


def _shape(ref: SSAValue) -> tuple[int, ...]:
    assert isinstance(ref.type, RefType)
    return ref.type.shape
