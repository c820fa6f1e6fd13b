"""What DMAs move for an access by row numbers: for each place a block of its array, and where it stands in a buffer.

Pure. A DMA moves whole tiles of memory: of a dimension all of it, an aligned part, or one element. What is wanted of a
dimension beyond that is cut out on the chip.

| entry | each DMA moves | the buffer has |
|---|---|---|
| ``:`` | all | all |
| a block, or a slice, of whole tiles | that | that |
| another block or slice | all, of which it is cut | all |
| numbers, or one, of the last two dimensions | one element | a dimension of 1 |
| numbers, or one, of another dimension | one element | nothing |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import SSAValue

from kopt.dialects.tile import ALL, GetOp, PutOp, RangeType, RefType, SliceAttr, TileType, is_gather, is_number
from kopt.dialects.tile.index_list import AllAttr, Entry
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.tiling import LANES, round_up, sublanes

#: Dimensions, counted from the last one, in which tiles of memory have more than one element.
_TILED = 2


@dataclass(frozen=True)
class Cut:
    """A block or slice of a dimension that comes whole; with ``lanes``, some of them behind its end, it is in it."""

    entry: SSAValue | SliceAttr
    lanes: int


@dataclass(frozen=True)
class MovedDim:
    """One dimension of an array: what each DMA moves of it, the lanes of the buffer (0 where it has none), the cut."""

    entry: Entry
    lanes: int
    cut: Cut | None = None

    @property
    def is_single(self) -> bool:
        """Whether one element is moved, by its number."""
        return is_gather(self.entry) or is_number(self.entry)


@dataclass(frozen=True)
class RowCopies:
    """The DMAs of one access, one for each of its ``places``. The buffer has these where the first numbers stand."""

    places: tuple[int, ...]
    dims: tuple[MovedDim, ...]

    @property
    def numbers(self) -> list[SSAValue]:
        """The tiles of numbers, each once."""
        found = [dim.entry for dim in self.dims if is_gather(dim.entry)]
        return list(dict.fromkeys(found))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the buffer."""
        before, behind = self._kept
        return (*(dim.lanes for dim in before), *self.places, *(dim.lanes for dim in behind))

    def entries(self, places: Sequence[Entry], single: Entry) -> list[Entry]:
        """An index list into the buffer, with what stands for its places and for dimensions of a single element."""
        before, behind = ([single if dim.is_single else ALL for dim in dims] for dims in self._kept)
        return [*before, *places, *behind]

    @property
    def _kept(self) -> tuple[list[MovedDim], list[MovedDim]]:
        first = next(number for number, dim in enumerate(self.dims) if is_gather(dim.entry))
        before, behind = ([dim for dim in dims if dim.lanes] for dims in (self.dims[:first], self.dims[first:]))
        return before, behind


def row_copies(access: GetOp | PutOp) -> RowCopies:
    """The DMAs of a read or write of an array in HBM by tiles of numbers."""
    type, sums = access.memory.type, IndexAnalysis(sums=True)
    assert isinstance(type, RefType)
    places = next(entry.type for entry in access.indices if isinstance(entry.type, TileType))
    dims = [_moved(entry, position, type, sums) for position, entry in enumerate(access.entries)]
    return RowCopies(places.shape, tuple(dims))


def copy_unit(position: int, bits: int) -> int:
    """What the part that a DMA moves of a dimension is a multiple of; the last dimension has position -1."""
    return {-1: LANES, -2: sublanes(max(8, bits))}.get(position, 1)


def _moved(entry: Entry, position: int, type: RefType, sums: IndexAnalysis) -> MovedDim:
    assert isinstance(element := type.element_type, FixedBitwidthType)
    extent, unit = type.shape[position], copy_unit(position - type.rank, element.bitwidth)
    if isinstance(entry, AllAttr):
        return MovedDim(ALL, extent)
    if isinstance(entry, SliceAttr):
        aligned = entry.step.data == 1 and entry.start.data % unit == entry.length % unit == 0
        return MovedDim(entry, entry.length) if aligned else MovedDim(ALL, extent, Cut(entry, extent))
    if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
        return _of_block(entry, entry.type.size, extent, unit, sums.begin(entry).divisor)
    return MovedDim(entry, int(position >= type.rank - _TILED))


def _of_block(block: SSAValue, size: int, extent: int, unit: int, divisor: int) -> MovedDim:
    """A block; ``divisor`` divides the number of its first lane."""
    multiple = divisor % size == 0
    if multiple and size == extent:
        return MovedDim(ALL, extent)
    if multiple and extent % size == size % unit == 0:
        return MovedDim(block, size)
    end = round_up(extent, size) if multiple else extent + size - 1
    return MovedDim(ALL, extent, Cut(block, round_up(end, unit)))
