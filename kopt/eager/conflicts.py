"""Cells of a grid run in no order: finds cells that read or write what another cell writes.

The rule is the reference's (`kopt.interpreter.conflicts`): cells that write the same value do not disturb each other,
nor do they where computed rows name one that another cell has named.
Nor do atomic updates disturb each other; beside plain accesses they are accesses as any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from kopt.eager.storage import addresses
from kopt.errors import AccessError

#: Arrays of more elements are not watched.
_LARGEST = 1 << 24
_SEVERAL = -1

_Stamps = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


@dataclass
class Conflicts:
    """Watches the accesses of one grid. ``cell`` is the number of the cell that runs, from 1."""

    cell: int = 0
    #: For each memory who wrote, read and updated each element; 0 is nobody.
    _stamps: dict[tuple[int, int], _Stamps] = field(default_factory=dict)

    def next(self) -> None:
        """The next cell."""
        self.cell += 1

    def read(self, array: torch.Tensor, index: Sequence[torch.Tensor], lanes: torch.Tensor) -> None:
        """The cell reads some lanes of ``array[index]``."""
        if (found := self._at(array, index, lanes)) is None:
            return
        (writer, reader, updater), places = found
        if self._others(places, writer, updater):
            raise AccessError("a load reads what another cell of the grid stores: cells run in no order", id="race")
        self._mark(reader, places[writer[places] == 0])

    def write(
        self,
        array: torch.Tensor,
        index: Sequence[torch.Tensor],
        lanes: torch.Tensor,
        changed: torch.Tensor,
        gathers: bool,
    ) -> None:
        """The cell writes some lanes of ``array[index]``, of which some are ``changed``."""
        if (found := self._at(array, index, lanes)) is None:
            return
        (writer, reader, updater), places = found
        if (not gathers and self._others(places[changed[lanes]], writer)) or self._others(places, reader, updater):
            raise AccessError("a store writes what another cell of the grid accesses: cells run in no order", id="race")
        writer[places] = self.cell

    def update(self, array: torch.Tensor, index: Sequence[torch.Tensor], lanes: torch.Tensor) -> None:
        """The cell updates some lanes of ``array[index]`` atomically."""
        if (found := self._at(array, index, lanes)) is None:
            return
        (writer, reader, updater), places = found
        if self._others(places, writer, reader):
            raise AccessError(
                "an atomic update changes what another cell of the grid accesses: cells run in no order", id="race"
            )
        self._mark(updater, places)

    def _others(self, places: torch.Tensor, *stamps: torch.Tensor) -> bool:
        """Whether other cells have left one of the stamps at some places."""
        return any(bool(((each[places] != 0) & (each[places] != self.cell)).any()) for each in stamps)

    def _mark(self, stamps: torch.Tensor, places: torch.Tensor) -> None:
        """Stamps accesses that many cells may make."""
        before = stamps[places]
        stamps[places] = torch.where((before == 0) | (before == self.cell), self.cell, _SEVERAL).int()

    def _at(
        self, array: torch.Tensor, index: Sequence[torch.Tensor], lanes: torch.Tensor
    ) -> tuple[_Stamps, torch.Tensor] | None:
        """The stamps of an array's memory, and where the chosen lanes are in it."""
        memory = array.untyped_storage()
        count = memory.nbytes() // array.itemsize
        if array.is_meta or not index or not array.numel() or count > _LARGEST:
            return None
        key = (memory.data_ptr(), array.itemsize)
        if key not in self._stamps:
            writer, reader, updater = torch.zeros(3, count, dtype=torch.int32, device="cpu")
            self._stamps[key] = (writer, reader, updater)
        return self._stamps[key], (int(array.storage_offset()) + addresses(array, index))[lanes].cpu()
