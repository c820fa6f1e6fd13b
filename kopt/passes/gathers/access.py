"""One gathering load, rewritten until each gathered place is whole rows of an array that DMAs can move."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import (
    ALL,
    BroadcastOp,
    FullOp,
    LoadOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    block_axes,
    is_gather,
    is_number,
)
from kopt.dialects.tile.index_list import Axis, Entry
from kopt.passes.gathers.building import Arrays, Builder, array_type, element_bits, type_of

#: Elements that the lanes of one row of a vector register hold.
LANES = 128
#: Rows of an array that lie in one tile of memory: single ones cannot be moved below 32 bits.
GROUP = {16: 8, 8: 32}
#: Elements of whole rows of a matrix that are fetched to pick single ones from.
FETCHED = 1 << 20
#: Arrays of one dimension up to this size are read whole.
SMALL = 1024
#: … if this many elements or fewer are looked at in all.
PICKED = 1 << 20


class Gathering:
    """The state of rewriting one load: its array, its index list, and what is done to the loaded block.

    ``x[%r, %c]`` of rows becomes ``x[%r, :]`` and a pick of lane ``%c`` from each row; of 16-bit elements it is
    ``g[%r / 8, :, :]`` of the array seen in groups of 8 rows, a pick of row ``%r % 8``, then of lane ``%c``.
    """

    def __init__(self, load: LoadOp, arrays: Arrays):
        self.build = Builder(load)
        self.arrays = arrays
        self.memory: SSAValue = load.memory
        self.entries: list[Entry] = list(load.entries)
        self.picks: list[tuple[int, SSAValue]] = []

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array as it is seen now."""
        return array_type(self.memory).get_shape()

    def clamp(self) -> None:
        """Keeps row numbers inside the array."""
        for position, (entry, extent) in enumerate(zip(self.entries, self.shape, strict=True)):
            if isinstance(entry, SSAValue) and is_gather(entry):
                self.entries[position] = self.build.clamped(entry, extent)

    # Steps that bring the array into a form whose rows DMAs can move.

    def through_reshape(self, launch: LaunchOp) -> None:
        """Elements of a flattened matrix are elements of the matrix: spares the host a copy of it."""
        source = launch.inputs[launch.body.block.args.index(self.memory)].owner
        if not isinstance(source, ReshapeOp) or source.source_type.get_num_dims() != 2 or len(self.shape) != 1:
            return
        flat, width = self._tile(0), source.source_type.get_shape()[1]
        if prod(type_of(flat).shape) * GROUP.get(element_bits(self.memory), 1) * width > FETCHED:
            return
        self.memory = self.arrays.fetched(source.source, self.memory)
        row, column = self.build.compute("truncdiv", flat, width), self.build.compute("rem", flat, width)
        self.entries = [row, column]

    def fold_flat(self) -> None:
        """An array of one dimension is one of rows of 128 elements."""
        flat, extent = self._tile(0), self.shape[0]
        rows = -(-extent // LANES)
        self.memory = self.arrays.view(self.memory, [rows * LANES], [rows, LANES])
        self.entries = [self.build.compute("shr", flat, 7), self.build.compute("and", flat, LANES - 1)]

    def spread_number(self, position: int) -> None:
        """One number for all gathered places is theirs, where DMAs move no single element of a dimension."""
        entry = self.entries[position]
        tile = next((other for other in self.entries if isinstance(other, SSAValue) and is_gather(other)), None)
        if tile is None or not is_number(entry):
            return
        type = type_of(tile).with_element(i32)
        op = FullOp(entry, type) if isinstance(entry, int) else SplatOp(entry, type)
        self.entries[position] = self.build.clamped(self.build.add(op), self.shape[position])

    def whole_rows(self) -> None:
        """Single lanes are picked after their row has come."""
        last = len(self.shape) - 1
        self.spread_number(last)
        if self._gathers(last):
            self.picks.append((last, self._tile(last)))
            self.entries[last] = ALL

    def whole_groups(self) -> None:
        """Rows of elements below 32 bits come in groups that lie in one tile."""
        group, row = GROUP.get(element_bits(self.memory), 1), len(self.shape) - 2
        if group == 1 or row < 0:
            return
        self.spread_number(row)
        if not self._gathers(row):
            return
        *outer, rows, lanes = self.shape
        groups = -(-rows // group)
        self.memory = self.arrays.view(self.memory, [*outer, groups * group, lanes], [*outer, groups, group, lanes])
        index = self._tile(row)
        self.picks = [(position + 1, lane) for position, lane in self.picks]
        self.picks.append((row + 1, self.build.compute("and", index, group - 1)))
        self.entries[row : row + 1] = [self.build.compute("shr", index, group.bit_length() - 1), ALL]

    def is_small_product(self) -> bool:
        """Whether elements of one column of an array, or of all its one, are best picked from the whole of that."""
        *numbers, column = sorted(range(len(self.shape)), key=self._gathers)
        if not all(is_number(self.entries[n]) for n in numbers) or column and column == len(numbers):
            return False
        return self.shape[column] <= SMALL and prod(type_of(self._tile(column)).shape) * self.shape[column] <= PICKED

    # The load.

    def load(self) -> SSAValue:
        """The load of what the steps have made, by DMA where it still gathers, and the picks from it."""
        if not any(self._gathers(position) for position in range(len(self.entries))):
            return self._pick(*self._spread())
        memory = self.memory
        if memory is self.build.load.memory:
            memory = self.arrays.view(memory, self.shape, self.shape)
        value = self.build.add(LoadOp(memory, self.entries))
        return self._pick(value, block_axes(self.entries, self.shape))

    def _spread(self) -> tuple[SSAValue, tuple[Axis, ...]]:
        """One ordinary block of rows, repeated for each of the lanes to pick from it."""
        value = self.build.add(LoadOp(self.memory, self.entries))
        axes = block_axes(self.entries, self.shape)
        ((position, lane),) = self.picks
        places = [Axis(position, dim, number) for number, dim in enumerate(type_of(lane).dims.data)]
        spread = (*axes[:-1], *places, axes[-1])
        kept = [number for number, axis in enumerate(spread) if axis.gather_dim is None]
        type = type_of(value).with_dims([axis.dim for axis in spread])
        return self.build.add(BroadcastOp(value, kept, type)), spread

    def _pick(self, value: SSAValue, axes: tuple[Axis, ...]) -> SSAValue:
        """Takes the wanted lanes, the last dimensions first, so that those before keep their numbers."""
        first = next(number for number, axis in enumerate(axes) if axis.gather_dim is not None)
        for position, lane in sorted(self.picks, key=lambda pick: -pick[0]):
            dim = next(n for n, axis in enumerate(axes) if axis.position == position and axis.gather_dim is None)
            value = self.build.pick(value, dim, lane, first)
        return value

    def take_rows(self) -> SSAValue:
        """The rows of a small matrix by a product: the matrix's block is loaded whole."""
        index = self._tile(0)
        rows = self.build.add(LoadOp(self.memory, [ALL, *self.entries[1:]]))
        columns = type_of(rows).dims.data[1]
        dims = type_of(index).dims.data
        wide = self.build.add(BroadcastOp(index, [0], TileType([*dims, columns], type_of(index).element_type)))
        return self.build.add(TakeAlongOp(rows, wide, 0))

    def take_elements(self) -> SSAValue:
        """The elements of a small column, which is loaded whole."""
        index = next(self._tile(position) for position in range(len(self.shape)) if self._gathers(position))
        whole = self.build.add(LoadOp(self.memory, [ALL if entry is index else entry for entry in self.entries]))
        rank, dims = type_of(index).rank, type_of(index).dims.data
        block = type_of(whole).with_dims([*dims, *type_of(whole).dims.data])
        return self.build.pick(self.build.add(BroadcastOp(whole, [rank], block)), rank, index, 0)

    def _gathers(self, position: int) -> bool:
        entry = self.entries[position]
        return isinstance(entry, SSAValue) and is_gather(entry)

    def _tile(self, position: int) -> SSAValue:
        entry = self.entries[position]
        assert isinstance(entry, SSAValue)
        return entry
