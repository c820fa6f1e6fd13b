"""Loads and stores of memrefs become gets and puts of the blocks that the kernel sees, or copies of those in HBM."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.coverage import stays_inside
from kopt.analysis.effects import is_trivially_dead
from kopt.analysis.layouts import Layout, PhysicalDim
from kopt.analysis.windows import Dim, Window
from kopt.diagnostics import location_of
from kopt.dialects.builder import Builder, named
from kopt.dialects.pallas import FetchOp, Overlap, SendOp
from kopt.dialects.tile import (
    ALL,
    ELEMENTWISE,
    BeginOp,
    FullOp,
    GetOp,
    LoadOp,
    MaskOp,
    PutOp,
    RangeType,
    ReshapeOp,
    ShiftOp,
    SliceAttr,
    StoreOp,
    TileType,
    is_gather,
    literal,
    tile_type,
)
from kopt.dialects.tile.index_list import AllAttr, Entry, block_axes
from kopt.dialects.tile.memory import ref_block_type
from kopt.errors import LoweringError
from kopt.ir.division import floordiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.ir.to_ssa import IndexWriter
from kopt.passes.replacing import replacing


@dataclass
class WindowPlace:
    """Where a memref's window is found: its ref, and how the window's dimensions stand there.

    ``sums`` are the indices of its accesses as they are written again, ``parts`` are ranges as parts of its block.
    """

    window: Window
    layout: Layout
    ref: SSAValue
    sums: IndexAnalysis = field(default_factory=lambda: IndexAnalysis(sums=True))
    parts: dict[tuple[SSAValue, Block | None], ShiftOp] = field(default_factory=dict)

    def part(self, range: SSAValue, block: SSAValue, build: Builder) -> SSAValue:
        """A range relative to the begin of the block that holds it: one value for accesses of one place."""
        known = self.parts.get((range, build.op.parent))
        if known is None or not known.is_before_in_block(build.op):
            zero = build.index(0)
            begin = build.add(BeginOp(block))
            known = build.insert(ShiftOp(range, build.add(arith.SubiOp(zero, begin))))
            self.parts[range, build.op.parent] = known
        return known.result


def unrealised(access: Operation, memory: str | None) -> LoweringError:
    """The error for an access that a pass before this one makes loads and stores of."""
    return LoweringError(
        f"'{access.name}' of '{memory or 'an array'}' has no window and no copy",
        location_of(access),
        notes=["'realise-values' makes loads and stores of such accesses: run it before 'bind-buffers'"],
    )


def convert_load(load: LoadOp, place: WindowPlace) -> None:
    """A load becomes a get; masked lanes take ``other`` and lanes outside their range ``pad`` by selects."""
    to = _Conversion(load)
    _replace(load, to.get(place, to.entries(load, place), tile_type(load.result)), to)


def convert_fetch(load: LoadOp, place: WindowPlace, axis: SSAValue | None) -> None:
    """A load of an array in HBM becomes a fetch, which steps of an axis may overlap."""
    to = _Conversion(load)
    fetch = FetchOp(place.ref, load.entries, load.result.type, None if axis is None else Overlap(axis))
    _replace(load, to.build.add(replacing(load, fetch)), to)


def _replace(load: LoadOp, value: SSAValue, to: _Conversion) -> None:
    """Puts a block in the place of a load's result."""
    build = to.build
    if load.pad is not None and (valid := to.validity(load)) is not None:
        value = build.select(valid, value, build.add(FullOp(load.pad, tile_type(value))))
    if load.mask is not None:
        other = load.other or literal(0, tile_type(value).element_type)
        value = build.select(load.mask, value, build.add(FullOp(other, tile_type(value))))
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def convert_store(store: StoreOp, place: WindowPlace) -> None:
    """A store becomes a put; where lanes must keep what they held, the block is read, merged and written back."""
    to = _Conversion(store)
    entries, build = to.entries(store, place), to.build
    value, keep = store.value, to.written_lanes(store, place)
    if keep is not None:
        old = named(to.get(place, entries, tile_type(value)), "old")
        value = named(build.select(keep, value, old), "new")
    stands = _standing(place, entries, tile_type(value))
    value = value if stands is None else build.add(ReshapeOp(value, stands))
    build.insert(replacing(store, PutOp(value, place.ref, entries)))
    Rewriter.erase_op(store)


def convert_writeback(store: StoreOp, place: WindowPlace, axis: SSAValue | None) -> None:
    """A store to an array in HBM becomes a send of the lanes that are its own, which steps of an axis may overlap."""
    to = _Conversion(store)
    own = to.written_lanes(store, place)
    overlap = None if axis is None else Overlap(axis)
    to.build.insert(replacing(store, SendOp(store.value, place.ref, store.entries, own, overlap)))
    Rewriter.erase_op(store)


def convert_send(store: StoreOp, place: WindowPlace) -> None:
    """A store of a row that a load brought becomes a send: lanes outside their range are what they were."""
    send = SendOp(store.value, place.ref, store.entries, store.mask)
    Builder(store).insert(replacing(store, send))
    Rewriter.erase_op(store)


def convert_scatter(store: StoreOp, place: WindowPlace) -> None:
    """A store of rows by computed numbers becomes a put to HBM: which ones are stored, their numbers tell."""
    Builder(store).insert(replacing(store, PutOp(store.value, place.ref, store.entries)))
    mask = store.mask
    Rewriter.erase_op(store)
    if mask is not None:
        erase_dead(mask)


def erase_dead(value: SSAValue) -> None:
    """Erases what nothing uses any more, and what only that used."""
    op = value.owner
    if isinstance(op, Operation) and op.parent is not None and is_trivially_dead(op):
        operands = list(op.operands)
        Rewriter.erase_op(op)
        for operand in operands:
            erase_dead(operand)


def _standing(place: WindowPlace, entries: list[Entry], block: TileType) -> TileType | None:
    """The block as it stands in the ref, where dimensions of one lane stand elsewhere than in the block, or None.

    What ``:`` takes from a ref without tags is named by the block's other dimensions, which stand in their order.
    """
    found = ref_block_type(place.ref.type, entries)
    if found.shape == block.shape and all(own in ("", tag) for own, tag in zip(found.tags, block.tags, strict=True)):
        return None
    unnamed = list(block.dims.data)
    for dim in found.dims.data:
        if dim.tag.data and dim in unnamed:  # of several with one range as many as are named
            unnamed.remove(dim)
    ones, others = (iter([dim for dim in unnamed if (dim.size.data == 1) == unit]) for unit in (True, False))
    dims = [
        dim if dim.tag.data else next(ones if dim.size.data == 1 else others, dim)  # as large: the block has its lanes
        for dim in found.dims.data
    ]
    return found.with_dims(dims)


class _Conversion:
    """Makes what becomes of one access, in front of it."""

    def __init__(self, access: LoadOp | StoreOp):
        self.access, self.build = access, Builder(access)

    def get(self, place: WindowPlace, entries: list[Entry], block: TileType) -> SSAValue:
        """A block of a ref."""
        stands = _standing(place, entries, block)
        value = self.build.add(replacing(self.access, GetOp(place.ref, entries, stands or block)))
        return value if stands is None else self.build.add(ReshapeOp(value, block))

    # Index lists.

    def entries(self, access: LoadOp | StoreOp, place: WindowPlace) -> list[Entry]:
        """The index list into the ref: one entry for each of its dimensions. An array that stays in HBM is whole."""
        if any(is_gather(entry) for entry in access.entries):
            if len(access.entries) != len(place.ref.type.shape):  # pyright: ignore[reportAttributeAccessIssue]
                raise unrealised(access, place.ref.name_hint)
            return list(access.entries)
        found: list[Entry] = []
        for part, lanes in zip(place.layout.parts, place.layout.blocks, strict=True):
            if lanes:
                found.append(self._entry(part, lanes, access.entries, place))
        return found

    def _entry(self, part: PhysicalDim, lanes: int, entries: tuple[Entry, ...], place: WindowPlace) -> Entry:
        if part.kind == "unit":
            return 0
        entry, dim = entries[part.dim], place.window.dims[part.dim]
        if part.kind == "outer":
            return self._block_number(entry, place.layout.splits[part.dim], place.sums)
        if dim.kind == "block":
            return self._in_block(entry, dim, place)
        if part.kind == "inner":
            return ALL
        if isinstance(entry, AllAttr) and lanes != place.layout.padded[part.dim]:
            return SliceAttr(0, place.window.type.get_shape()[part.dim])
        return entry

    def _in_block(self, entry: Entry, dim: Dim, place: WindowPlace) -> Entry:
        """A grid's range is its whole block; a part of that block is a range relative to the block's begin."""
        assert isinstance(entry, SSAValue) and dim.range is not None
        if unshifted(entry) is dim.range:
            return ALL
        return place.part(entry, dim.range, self.build)

    def _block_number(self, entry: Entry, split: int, sums: IndexAnalysis) -> SSAValue:
        """Which outer part of a split dimension an entry lies in."""
        assert isinstance(entry, SSAValue)
        return IndexWriter(self.build.add, lambda value: value, sums.begin).value(floordiv(sums.first(entry), split))

    # Masks.

    def validity(self, load: LoadOp) -> SSAValue | None:
        """Which lanes of a loaded block lie inside their ranges."""
        ranges = [e for e in load.entries if isinstance(e, SSAValue) and isinstance(e.type, RangeType)]
        return self._all_valid(load, ranges, tile_type(load.result), None)

    def written_lanes(self, store: StoreOp, place: WindowPlace) -> SSAValue | None:
        """The lanes that a store writes, or None where it may write all of its block."""
        shape = place.window.type.get_shape()
        ragged = [
            entry
            for entry, extent in zip(store.entries, shape, strict=True)
            if isinstance(entry, SSAValue)
            and isinstance(entry.type, RangeType)
            and not stays_inside(entry, extent, place.sums)
        ]
        return self._all_valid(store, ragged, tile_type(store.value), store.mask)

    def _all_valid(
        self, access: LoadOp | StoreOp, ranges: list[SSAValue], block: TileType, mask: SSAValue | None
    ) -> SSAValue | None:
        """The lanes of a block inside all of some ranges, and where ``mask`` holds.

        Made by masking ones, since Mosaic cannot broadcast a vector of predicates along lanes.
        """
        if not ranges:
            return mask
        shape = access.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
        limits: list[SSAValue | None] = [None] * block.rank
        for number, axis in enumerate(block_axes(access.entries, shape)):
            entry = access.entries[axis.position]
            if isinstance(entry, SSAValue) and entry in ranges:
                limits[number] = unshifted(entry)
        lanes = block.with_element(i32)
        ones, zeros = self.build.add(FullOp(1, lanes)), self.build.add(FullOp(0, lanes))
        inside = self.build.add(ELEMENTWISE["ne"](self.build.add(MaskOp(ones, limits, 0)), zeros), "inside")
        return self.build.both(mask, inside)
