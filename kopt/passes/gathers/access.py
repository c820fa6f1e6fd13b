"""One gathering load, rewritten until each gathered place is whole rows of an array that DMAs can move."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.values.form import GROUP, GatherForm, element_bits, flattened
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ALL,
    BroadcastOp,
    ConcatOp,
    FullOp,
    LoadOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    array_type,
    block_axes,
    is_gather,
    is_number,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, IndexedDim
from kopt.passes.gathers.picking import clamped, pick
from kopt.passes.launch_arrays import Arrays
from kopt.passes.regrouping import in_parts, regroup
from kopt.passes.replacing import replacing
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES


class Gathering:
    """The state of rewriting one load: its array, its index list, and what is done to the loaded block.

    ``x[%r, %c]`` of rows becomes ``x[%r, :]`` and a pick of lane ``%c`` from each row; of 16-bit elements it is
    ``g[%r / 8, :, :]`` of the array seen in groups of 8 rows, a pick of row ``%r % 8``, then of lane ``%c``.
    """

    def __init__(self, load: LoadOp, arrays: Arrays):
        self._load, self.build = load, Builder(load)
        self.arrays = arrays
        self.memory: SSAValue = load.memory
        self.entries: list[Entry] = list(load.entries)
        self.picks: list[tuple[int, SSAValue]] = []

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array as it is seen now."""
        return array_type(self.memory).get_shape()

    @property
    def form(self) -> GatherForm:
        """Its shapes as they are now."""
        return GatherForm.of(self.memory, self.entries, bool(self.picks))

    def clamp(self) -> None:
        """Keeps row numbers inside the array."""
        for position, (entry, extent) in enumerate(zip(self.entries, self.shape, strict=True)):
            if isinstance(entry, SSAValue) and is_gather(entry):
                self.entries[position] = clamped(self.build, entry, extent)

    # Steps that bring the array into a form whose rows DMAs can move.

    def by_rows(self, launch: LaunchOp) -> None:
        """Rows in place of elements, of which single lanes are picked."""
        self.through_reshape(launch)
        if len(self.shape) == 1:
            self.fold_flat()
        self.whole_rows()

    def through_reshape(self, launch: LaunchOp) -> None:
        """Elements of a flattened matrix are elements of the matrix: spares the host a copy of it."""
        view = flattened(self.memory, launch)
        if view is None or not self.form.flattens(view):
            return
        flat, width = self._tile(0), view.source_type.get_shape()[1]
        self.memory = self.arrays.fetched(view.source, self.memory)
        row, column = self.build.with_number("truncdiv", flat, width), self.build.with_number("rem", flat, width)
        self.entries = [row, column]

    def fold_flat(self) -> None:
        """An array of one dimension is one of rows of 128 elements."""
        flat, extent = self._tile(0), self.shape[0]
        rows = -(-extent // LANES)
        self.memory = self.arrays.view(self.memory, [rows * LANES], [rows, LANES])
        self.entries = [self.build.with_number("shr", flat, 7), self.build.with_number("and", flat, LANES - 1)]

    def spread_number(self, position: int) -> None:
        """One number for all gathered places is theirs, where DMAs move no single element of a dimension."""
        entry = self.entries[position]
        tile = next((other for other in self.entries if isinstance(other, SSAValue) and is_gather(other)), None)
        if tile is None or not is_number(entry):
            return
        type = tile_type(tile).with_element(i32)
        op = FullOp(entry, type) if isinstance(entry, int) else SplatOp(entry, type)
        self.entries[position] = clamped(self.build, self.build.add(op), self.shape[position])

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
        self.picks.append((row + 1, self.build.with_number("and", index, group - 1)))
        self.entries[row : row + 1] = [self.build.with_number("shr", index, group.bit_length() - 1), ALL]

    # The load.

    def load(self) -> SSAValue:
        """The load of what the steps have made, by DMA where it still gathers, and the picks from it."""
        if not any(self._gathers(position) for position in range(len(self.entries))):
            return self._pick(*self._spread())
        memory = self.memory
        if memory is self._load.memory:
            memory = self.arrays.view(memory, self.shape, self.shape)
        value = self._loaded(memory, self.entries)
        return self._pick(value, block_axes(self.entries, self.shape))

    def _spread(self) -> tuple[SSAValue, tuple[IndexedDim, ...]]:
        """One ordinary block of rows, repeated for each of the lanes to pick from it."""
        value = self._loaded(self.memory, self.entries)
        axes = block_axes(self.entries, self.shape)
        ((position, lane),) = self.picks
        places = [IndexedDim(position, dim, number) for number, dim in enumerate(tile_type(lane).dims.data)]
        spread = (*axes[:-1], *places, axes[-1])
        kept = [number for number, axis in enumerate(spread) if axis.gather_dim is None]
        type = tile_type(value).with_dims([axis.dim for axis in spread])
        return self.build.add(BroadcastOp(value, kept, type)), spread

    def _pick(self, value: SSAValue, axes: tuple[IndexedDim, ...]) -> SSAValue:
        """Takes the wanted lanes, the last dimensions first, so that those before keep their numbers."""
        first = next(number for number, axis in enumerate(axes) if axis.gather_dim is not None)
        for position, lane in sorted(self.picks, key=lambda pick: -pick[0]):
            dim = next(n for n, axis in enumerate(axes) if axis.position == position and axis.gather_dim is None)
            value = pick(self.build, value, dim, lane, first)
        return value

    def take_rows(self) -> SSAValue:
        """The rows of a small matrix by a product: the matrix's block is loaded whole."""
        position = len(self.entries) - 2
        index, axes = self._tile(position), block_axes(self.entries, self.shape)
        rows = self._loaded(self.memory, [*self.entries[:position], ALL, self.entries[-1]])
        columns, dims = tile_type(rows).dims.data[1], tile_type(index).dims.data
        if len(dims) == 1 and not self.picks:
            return self._taken(rows, index)
        build = self.build
        plain = build.reshape(index, tile_type(index).shape)
        most = Budget.PICKED_FROM // max(self.shape[position], columns.size.data)
        parts = [self._taken(rows, part) for part in in_parts(build, plain, most)]
        taken = parts[0] if len(parts) == 1 else build.add(ConcatOp(parts, 0))
        return self._pick(build.reshape(taken, [*dims, columns]), axes)

    def _taken(self, rows: SSAValue, index: SSAValue) -> SSAValue:
        """Rows of a table by an index of any dimensions."""
        build, dims, columns = self.build, tile_type(index).dims.data, tile_type(rows).dims.data[1]
        flat = index if len(dims) == 1 else regroup(build, index, [prod(tile_type(index).shape)])
        type = TileType([*tile_type(flat).dims.data, columns], tile_type(index).element_type)
        taken = build.add(TakeAlongOp(rows, build.add(BroadcastOp(flat, [0], type)), 0))
        return taken if len(dims) == 1 else build.reshape(taken, [*dims, columns])

    def take_elements(self) -> SSAValue:
        """The elements of a small column, which is loaded whole."""
        index = next(self._tile(position) for position in range(len(self.shape)) if self._gathers(position))
        whole = self._loaded(self.memory, [ALL if entry is index else entry for entry in self.entries])
        rank, dims = tile_type(index).rank, tile_type(index).dims.data
        block = tile_type(whole).with_dims([*dims, *tile_type(whole).dims.data])
        return pick(self.build, self.build.add(BroadcastOp(whole, [rank], block)), rank, index, 0)

    def _loaded(self, memory: SSAValue, entries: Sequence[Entry]) -> SSAValue:
        return self.build.add(replacing(self._load, LoadOp(memory, entries)))

    def _gathers(self, position: int) -> bool:
        entry = self.entries[position]
        return isinstance(entry, SSAValue) and is_gather(entry)

    def _tile(self, position: int) -> SSAValue:
        entry = self.entries[position]
        assert isinstance(entry, SSAValue)
        return entry
