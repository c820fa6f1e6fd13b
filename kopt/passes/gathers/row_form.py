"""One gathering load, rewritten until each gathered place is whole rows of an array, of which lanes are picked."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from kopt.analysis.values.form import GROUP, GatherForm, element_bits, flattened
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ALL,
    FullOp,
    LoadOp,
    SplatOp,
    array_type,
    is_gather,
    is_number,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, IndexedDim
from kopt.passes.access_building import clamped, pick
from kopt.passes.launch_arrays import Arrays
from kopt.passes.replacing import replacing
from kopt.targets.tiling import LANES


class RowForm:
    """The state of rewriting one load: its array, its index list, and what is done to the loaded block.

    ``x[%r, %c]`` of rows becomes ``x[%r, :]`` and a pick of lane ``%c`` from each row; of 16-bit elements it is
    ``g[%r / 8, :, :]`` of the array seen in groups of 8 rows, a pick of row ``%r % 8``, then of lane ``%c``.
    """

    def __init__(self, load: LoadOp, arrays: Arrays):
        self.load, self.build = load, Builder(load)
        self.arrays = arrays
        self.memory: SSAValue = load.memory
        self.entries: list[Entry] = list(load.entries)
        self.picks: list[tuple[int, SSAValue]] = []
        self._clamp()

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array as it is seen now."""
        return array_type(self.memory).get_shape()

    @property
    def form(self) -> GatherForm:
        """Its shapes as they are now."""
        return GatherForm.of(self.memory, self.entries, bool(self.picks))

    def _clamp(self) -> None:
        """Keeps row numbers inside the array."""
        for position, (entry, extent) in enumerate(zip(self.entries, self.shape, strict=True)):
            if is_gather(entry):
                self.entries[position] = clamped(self.build, entry, extent)

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
        flat, width = self.tile(0), view.source_type.get_shape()[1]
        self.memory = self.arrays.fetched(view.source, self.memory)
        row, column = self.build.with_number("truncdiv", flat, width), self.build.with_number("rem", flat, width)
        self.entries = [row, column]

    def fold_flat(self) -> None:
        """An array of one dimension is one of rows of 128 elements."""
        flat, extent = self.tile(0), self.shape[0]
        rows = -(-extent // LANES)
        self.memory = self.arrays.view(self.memory, [rows * LANES], [rows, LANES])
        self.entries = [self.build.with_number("shr", flat, 7), self.build.with_number("and", flat, LANES - 1)]

    def spread_number(self, position: int) -> None:
        """One number for all gathered places is theirs, where DMAs move no single element of a dimension."""
        entry = self.entries[position]
        tile = next((other for other in self.entries if is_gather(other)), None)
        if tile is None or not is_number(entry):
            return
        type = tile_type(tile).with_element(i32)
        op = FullOp(entry, type) if isinstance(entry, int) else SplatOp(entry, type)
        self.entries[position] = clamped(self.build, self.build.add(op), self.shape[position])

    def whole_rows(self) -> None:
        """Single lanes are picked after their row has come."""
        last = len(self.shape) - 1
        self.spread_number(last)
        if self.gathers(last):
            self.picks.append((last, self.tile(last)))
            self.entries[last] = ALL

    def whole_groups(self) -> None:
        """Rows of elements below 32 bits come in groups that lie in one tile."""
        group, row = GROUP.get(element_bits(self.memory), 1), len(self.shape) - 2
        if group == 1 or row < 0:
            return
        self.spread_number(row)
        if not self.gathers(row):
            return
        *outer, rows, lanes = self.shape
        groups = -(-rows // group)
        self.memory = self.arrays.view(self.memory, [*outer, groups * group, lanes], [*outer, groups, group, lanes])
        index = self.tile(row)
        self.picks = [(position + 1, lane) for position, lane in self.picks]
        self.picks.append((row + 1, self.build.with_number("and", index, group - 1)))
        self.entries[row : row + 1] = [self.build.with_number("shr", index, group.bit_length() - 1), ALL]

    def pick(self, value: SSAValue, axes: tuple[IndexedDim, ...]) -> SSAValue:
        """Takes the wanted lanes, the last dimensions first, so that those before keep their numbers."""
        first = next(number for number, axis in enumerate(axes) if axis.gather_dim is not None)
        for position, lane in sorted(self.picks, key=lambda pick: -pick[0]):
            dim = next(n for n, axis in enumerate(axes) if axis.position == position and axis.gather_dim is None)
            value = pick(self.build, value, dim, lane, first)
        return value

    def loaded(self, memory: SSAValue, entries: Sequence[Entry]) -> SSAValue:
        """The block of an index list."""
        return self.build.add(replacing(self.load, LoadOp(memory, entries)))

    def gathers(self, position: int) -> bool:
        """Whether an index is a tile of numbers."""
        return is_gather(self.entries[position])

    def tile(self, position: int) -> SSAValue:
        """An index that is one."""
        entry = self.entries[position]
        assert isinstance(entry, SSAValue)
        return entry
