"""Gathers as shapes: which indices are single numbers, blocks of lanes, and tiles of numbers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType, IndexType
from xdsl.ir import SSAValue

from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import TileType, array_type, is_gather, is_number
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.open_extents import UNBOUNDED, open_extents
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES

#: Rows of an array that lie in one tile of memory: single ones cannot be moved below 32 bits.
GROUP = {16: 8, 8: 32}
#: One index: None is a number, a number of lanes a block, a shape a tile of numbers.
Part = int | tuple[int, ...] | None


@dataclass(frozen=True)
class GatherForm:
    """``x[3, %r, :]`` of ``memref<8x30x200xf32>``, ``%r`` of 16 numbers, has the parts ``(None, (16,), 200)``.

    ``picks`` says that single lanes are picked from the rows that come.
    """

    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    bits: int
    picks: bool = False

    @classmethod
    def of(cls, memory: SSAValue, entries: Sequence[Entry], picks: bool = False) -> GatherForm:
        """The form of an index list; where no index is a tile, its computed numbers are tiles of one."""
        shape = array_type(memory).get_shape()
        single = not any(map(is_gather, entries))
        parts = [_part(entry, extent, single) for entry, extent in zip(entries, shape, strict=True)]
        return cls(shape, tuple(parts), element_bits(memory), picks)

    @property
    def picks_from_whole(self) -> bool:
        """Whether elements of one column of an array, or of all its one, are best picked from the whole of that."""
        *numbers, column = sorted(range(len(self.shape)), key=self.gathers)
        if any(self.parts[n] is not None for n in numbers) or column and column == len(numbers):
            return False
        return Budget.picks_from_whole(self.shape[column], self._count(column))

    @property
    def takes_rows(self) -> bool:
        """Whether rows, by an index of one dimension, or elements of rows may be taken from a matrix by a product."""
        rows = len(self.parts) - 2
        if rows < 0 or not self.gathers(rows) or not isinstance(self.parts[rows + 1], int) or self.bits == 64:
            return False
        if any(part is not None for part in self.parts[:rows]) or open_extents(self.shape):
            return False
        return Budget.takes_rows(self._count(rows), *self._table) if self.picks else len(self._places(rows)) == 1

    @property
    def table_bytes(self) -> int:
        """Bytes of the matrix that rows are taken from."""
        return UNBOUNDED if open_extents(self._table) else prod(self._table) * self.bits // 8

    def flattens(self, view: ReshapeOp | None) -> bool:
        """Whether elements of flat storage are best picked from rows of the matrix that a host view flattens."""
        if view is None:
            return False
        return self._count(0) * GROUP.get(self.bits, 1) * view.source_type.get_shape()[1] <= Budget.PICKED_FROM

    def by_rows(self, view: ReshapeOp | None) -> GatherForm:
        """The form with whole rows in place of single lanes: of flat storage those of the matrix, or rows of 128."""
        found = self
        if len(self.shape) == 1:
            extent = self.shape[0]
            shape = view.source_type.get_shape() if view and self.flattens(view) else (-(-extent // LANES), LANES)
            found = replace(self, shape=tuple(shape), parts=(self.parts[0], self.parts[0]))
        last = len(found.shape) - 1
        places = next((part for part in found.parts if isinstance(part, tuple)), None)
        if isinstance(found.parts[last], int) or places is None:
            return found
        return replace(found, parts=(*found.parts[:last], found.shape[last]), picks=True)

    def gathers(self, position: int) -> bool:
        """Whether an index is a tile of numbers."""
        return isinstance(self.parts[position], tuple)

    @property
    def _table(self) -> tuple[int, int]:
        lanes = self.parts[-1]
        assert isinstance(lanes, int)
        return self.shape[-2], lanes

    def _places(self, position: int) -> tuple[int, ...]:
        found = self.parts[position]
        assert isinstance(found, tuple)
        return found

    def _count(self, position: int) -> int:
        return prod(self._places(position))


def _part(entry: Entry, extent: int, single: bool) -> Part:
    if is_gather(entry):
        assert isinstance(entry.type, TileType)
        return entry.type.shape
    if is_number(entry):
        return (1,) if single and isinstance(entry, SSAValue) and isinstance(entry.type, IndexType) else None
    return block_dims([entry], [extent])[0].size.data


def flattened(memory: SSAValue, launch: LaunchOp) -> ReshapeOp | None:
    """The host view that makes an array of one dimension of a matrix; None of others."""
    view = launch.inputs[launch.body.block.args.index(memory)].owner
    flat = len(array_type(memory).get_shape()) == 1
    return view if isinstance(view, ReshapeOp) and view.source_type.get_num_dims() == 2 and flat else None


def element_bits(memory: SSAValue) -> int:
    """Width of an array's element in memory."""
    element = array_type(memory).element_type
    assert isinstance(element, FixedBitwidthType)
    return max(8, element.bitwidth)
