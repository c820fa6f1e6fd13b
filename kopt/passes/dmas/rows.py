"""Rows by computed numbers: a DMA for each number, all of them on their way together."""

from __future__ import annotations

from functools import reduce

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.row_copies import Cut, row_copies
from kopt.diagnostics import location_of
from kopt.dialects.pallas import CallOp, DmaOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import (
    ALL,
    BeginOp,
    ConcatOp,
    DimAttr,
    DynamicSliceOp,
    ExtractOp,
    ForOp,
    FullOp,
    GetOp,
    PutOp,
    RangeType,
    RefType,
    ShiftOp,
    SliceAttr,
    SliceOp,
    TileType,
    YieldOp,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.errors import LoweringError
from kopt.passes.access_building import AccessBuilder
from kopt.passes.replacing import replacing
from kopt.passes.retyping import all_lanes, new_tags
from kopt.passes.scratch import scratch_name, scratch_ref


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

    A read has the same loops without the condition, and gets its value from the buffer after them.
    """
    _Rows(access, call).realise()


class _Rows:
    """The DMAs of one access. Those of one array take turns with its scratch memory: each is done before the next."""

    def __init__(self, access: GetOp | PutOp, call: CallOp):
        self.access, self.call = access, call
        self.build = AccessBuilder(access)
        self.copies = row_copies(access)
        self.own: list[SSAValue] = []
        self.moved = self._scratch(RefType((1,), i32, "semaphore"), "moved")
        self.numbers = {value: self._staged(value) for value in self.copies.numbers}
        assert isinstance(access.memory.type, RefType)
        self.rows = self._scratch(RefType(self.copies.shape, access.memory.type.element_type), "rows")

    def realise(self) -> None:
        if isinstance(self.access, GetOp):
            self._fetch(self.access)
        else:
            self._send(self.access)
        Rewriter.erase_op(self.access)

    def _fetch(self, get: GetOp) -> None:
        self._move()
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
        self._move()

    def _in_buffer(self) -> list[Entry]:
        """Where the value stands in the buffer."""
        return self.copies.entries([ALL] * len(self.copies.places), 0)

    # Copies.

    def _move(self) -> None:
        """Starts all copies, then waits for all of them."""
        for end in (DmaStartOp, DmaWaitOp):
            self._for_each_place(end)

    def _for_each_place(self, end: type[DmaOp]) -> None:
        build, cells = self.build, []
        for count in self.copies.places:
            tag = next(new_tags(self.access))
            loop = ForOp(0, count, [], Region(Block([YieldOp()], arg_types=[RangeType(tag, 1)])))
            loop.range.name_hint = "r"
            build.insert(loop)
            build = _inside(build, loop.body.block)
            cells.append(build.add(BeginOp(loop.range)))
        found = {value: build.add(GetOp(ref, cells)) for value, ref in self.numbers.items()}
        numbers = {value: build.named("row", ExtractOp(number, IndexType())) for value, number in found.items()}
        if isinstance(self.access, PutOp):
            build = self._where_named(list(numbers.values()), build)
        array = self.access.memory, [self._of_array(dim.entry, dim.lanes, numbers, build) for dim in self.copies.dims]
        buffer = self.rows, self.copies.entries(cells, ALL)
        places = (*array, *buffer) if isinstance(self.access, GetOp) else (*buffer, *array)
        build.insert(end(*places, self.moved, [0]))

    def _where_named(self, numbers: list[SSAValue], build: AccessBuilder) -> AccessBuilder:
        """A builder of what is done where no number is negative."""
        zero = build.index(0)
        tests = [build.add(arith.CmpiOp(number, zero, "sge")) for number in numbers]
        named = reduce(lambda a, b: build.add(arith.AndIOp(a, b)), tests)
        branch = scf.IfOp(named, [], Region(Block([scf.YieldOp()])))
        build.insert(branch)
        return _inside(build, branch.true_region.block)

    def _of_array(self, entry: Entry, lanes: int, numbers: dict[SSAValue, SSAValue], build: AccessBuilder) -> Entry:
        """What one copy moves of a dimension; one element of a dimension that the buffer has is a block of it."""
        number = numbers.get(entry, entry) if isinstance(entry, SSAValue) else entry
        if isinstance(number, int) and lanes:
            return SliceAttr(number, number + 1)
        if isinstance(number, SSAValue) and isinstance(number.type, IndexType) and lanes:
            one = build.add(all_lanes(1, self.access))
            return build.add(ShiftOp(one, number))
        return number

    # Memory.

    def _staged(self, numbers: SSAValue) -> SSAValue:
        """Scalar memory that holds the numbers, which DMAs alone bring there."""
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


def _inside(build: AccessBuilder, block: Block) -> AccessBuilder:
    """A builder at the end of a body."""
    assert block.last_op is not None
    return AccessBuilder(block.last_op, build.source)
