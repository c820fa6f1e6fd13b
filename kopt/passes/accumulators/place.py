"""Where one access of a target stands in its scratch block, and how values get there.

Mosaic indexes 32-bit memory by any row, by blocks that begin at multiples of 8 rows and of 128 lanes, and by constants.
An index of another kind is *spread*: the whole dimension is read and written, and lane numbers select what counts.

    %a = tile.get %acc[%n]    becomes    the lane of tile.get %acc[:] whose number is %n
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i32
from xdsl.ir import SSAValue

from kopt.analysis.coverage import stays_inside
from kopt.analysis.windows import Accesses, Dim
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ALL,
    ELEMENTWISE,
    BeginOp,
    BroadcastOp,
    FullOp,
    GetOp,
    MaskOp,
    PutOp,
    ReduceOp,
    SelectOp,
    ShiftOp,
    SliceAttr,
    TileType,
    element_of,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_axes
from kopt.dialects.tile.memory import block_type
from kopt.ir.ranges import unshifted
from kopt.passes.accumulators.block import AccumulatorBlock
from kopt.passes.accumulators.spread import Spread, indexes, picked
from kopt.passes.replacing import replacing


class ScratchAccess:
    """The index list of one access on the scratch block."""

    def __init__(self, block: AccumulatorBlock, access: Accesses):
        self.block, self.access, self.build = block, access, Builder(access)
        self.shape = block.window.type.get_shape()
        self.inner = block_type(access.memory.type, access.entries).with_element(block.element)
        self.spreads: list[Spread] = []
        self.entries = self._ref_entries()
        self.type = self._spread_type()

    def get(self) -> SSAValue:
        """The block as it stands, spread."""
        return self.build.add(replacing(self.access, GetOp(self.block.ref, self.entries, self.type)))

    def put(self, value: SSAValue) -> None:
        """Writes a spread block."""
        op = replacing(self.access, PutOp(value, self.block.ref, self.entries))
        self.access.parent_block().insert_op_before(op, self.access)  # pyright: ignore[reportOptionalMemberAccess]

    # Index lists.

    def _ref_entries(self) -> list[Entry]:
        seen = [n for n, dim in enumerate(self.block.window.dims) if dim.kind != "point"]
        axes = {axis.position: number for number, axis in enumerate(block_axes(self.access.entries, self.shape))}
        found: list[Entry] = []
        for place, number in enumerate(seen):
            entry, dim = self.access.entries[number], self.block.window.dims[number]
            if dim.kind == "block":
                found.append(self._in_block(entry, dim))
            elif isinstance(entry, SSAValue | SliceAttr) and not indexes(
                entry, place - len(seen), self.block.window.analysis
            ):
                axis = axes.get(number, sum(position < number for position in axes))
                self.spreads.append(Spread(entry, axis, self.shape[number]))
                found.append(self._whole(number))
            else:
                found.append(self._whole(number) if entry == ALL else entry)
        return found or [0, 0]

    def _whole(self, number: int) -> Entry:
        extent = self.shape[number]
        return ALL if self.block.window.dims[number].size == extent else SliceAttr(0, extent)

    def _in_block(self, entry: Entry, dim: Dim) -> Entry:
        """A grid's range is its whole block; a part of that block is a range relative to the block's begin."""
        assert isinstance(entry, SSAValue) and dim.range is not None
        if unshifted(entry) is dim.range:
            return ALL
        zero = self.build.add(arith.ConstantOp(IntegerAttr(0, IndexType())))
        first = self.build.add(BeginOp(dim.range))
        return self.build.add(ShiftOp(entry, self.build.add(arith.SubiOp(zero, first))))

    def _spread_type(self) -> TileType:
        dims = list(self.inner.dims.data)
        type = self.inner
        for spread in self.spreads:
            kept = dims[spread.axis + 1 :] if spread.is_block else dims[spread.axis :]
            type = type.with_dims([*dims[: spread.axis], spread.extent, *kept])
            dims = list(type.dims.data)
        return type

    # Values.

    def spread(self, value: SSAValue) -> SSAValue:
        """A value of the access's block where it stands in the spread one; undefined elsewhere."""
        for spread in self.spreads:
            dims = list(tile_type(value).dims.data)
            if spread.is_block:
                value = spread.gathered(self.build, value)
            else:
                type = tile_type(value).with_dims([*dims[: spread.axis], spread.extent, *dims[spread.axis :]])
                mapping = [n for n in range(type.rank) if n != spread.axis]
                value = self.build.add(BroadcastOp(value, mapping, type))
        return value

    def collapse(self, value: SSAValue) -> SSAValue:
        """The access's block out of a spread one."""
        for spread in reversed(self.spreads):
            type = tile_type(value)
            if spread.is_block:
                value = picked(self.build, value, spread.places(self.build), spread.axis)
            else:
                other = self.build.add(FullOp(0, type))
                value = self.build.add(SelectOp(spread.holds(self.build, type), value, other))
                value = self.build.add(ReduceOp("add", value, [spread.axis]))
        return value

    def kept(self, mask: SSAValue | None) -> SSAValue | None:
        """The lanes of the spread block that an access with a mask writes; None: all of them."""
        found = [] if mask is None else [self._spread_mask(mask)]
        found += [spread.holds(self.build, self.type) for spread in self.spreads]
        valid = self._valid()
        if valid is not None:
            found.append(valid)
        if not found:
            return None
        result = found[0]
        for other in found[1:]:
            result = self.build.add(ELEMENTWISE["and"](result, other))
            result.name_hint = "kept"
        return result

    def _spread_mask(self, mask: SSAValue) -> SSAValue:
        if not self.spreads:
            return mask
        return self._holds(self.spread(self.build.cast(mask, i32)))

    def _holds(self, number: SSAValue) -> SSAValue:
        assert element_of(number) == i32
        return self.build.add(ELEMENTWISE["ne"](number, self.build.add(FullOp(0, tile_type(number)))))

    def _valid(self) -> SSAValue | None:
        """The lanes inside ranges that end inside the array; the others may lie in a neighbour's block."""
        spread = {item.entry for item in self.spreads}
        limits: list[SSAValue | None] = [None] * self.type.rank
        axes = block_axes(self.access.entries, self.shape)
        shift = [n for n in range(self.type.rank) if n not in {s.axis for s in self.spreads if not s.is_block}]
        for number, axis in zip(shift, axes, strict=True):
            entry = self.access.entries[axis.position]
            whole = self.block.window.dims[axis.position].kind == "whole"
            if whole and isinstance(entry, SSAValue) and entry not in spread:
                inside = stays_inside(entry, self.shape[axis.position], self.block.window.analysis)
                limits[number] = None if inside else unshifted(entry)
        if not any(limits):
            return None
        ones = self.build.add(FullOp(1, self.type.with_element(i32)))
        return self._holds(self.build.add(MaskOp(ones, limits, 0)))
