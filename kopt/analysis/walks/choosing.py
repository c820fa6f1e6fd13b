"""Which whole dimensions are to be walked on a chip: those whose values a cell cannot hold. Pure.

On a GPU a cell's values stand in registers, on a TPU its blocks in VMEM.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from xdsl.ir import Operation, SSAValue

from kopt.analysis.cell_bytes import cell_bytes
from kopt.analysis.splittable_dims import Lanes
from kopt.analysis.walks.reduction_walks import visits
from kopt.analysis.walks.walkable import NotWalkable, Walkable, walkable
from kopt.dialects.tile import AllAttr, DotOp, GridOp, LoadOp, TileType, tile_type
from kopt.ir.widths import next_power_of_two
from kopt.plans.plan import Walk
from kopt.targets.budget import Budget
from kopt.targets.chips import Chip, GpuChip
from kopt.targets.tiling import register_bytes
from kopt.walk import walk

#: What is to be said of a launch, and where.
Remarks = list[tuple[Operation, str]]


def chosen_walks(
    grid: GridOp, chip: Chip, names: Mapping[SSAValue, str], tags: Iterator[str]
) -> tuple[list[Walk], Remarks]:
    """The walks of a grid: each reduced dimension of an array whose values a cell does not hold, while that is so.

    Also why a dimension is none that should be.
    """
    held = _Held(grid, chip)
    walks: list[Walk] = []
    remarks: Remarks = []
    for memory, dim in held.dimensions():
        try:
            found = walkable(grid, memory, dim)
        except NotWalkable as reason:
            remarks.append((reason.op, f"dimension {dim} of '{names[memory]}' is not walked: {reason}"))
            continue
        size = held.size(found)
        if _combines(found) and size < found.extent and not held.fits(found):
            how = "online" if visits(found, True).mended else "passes"
            walks.append(Walk(names[memory], dim, next(tags), size, how))
            held.cut.update(dict.fromkeys(found.values, size))
    return walks, remarks


def _combines(found: Walkable) -> bool:
    """Whether lanes are combined, and not by products alone, which ``split-dot-reduction`` walks."""
    return any(not isinstance(op, DotOp) for op in found.reductions)


class _Held:
    """What a cell of a grid holds, with some dimensions ``cut`` to parts."""

    def __init__(self, grid: GridOp, chip: Chip):
        self.grid, self.budget = grid, Budget(chip)
        self.cut: dict[Lanes, int] = {}
        tiles = (value for op in walk(grid) for value in op.results if isinstance(value.type, TileType))
        self.is_full = any(map(self._is_large, tiles)) and (
            isinstance(chip, GpuChip) or cell_bytes(grid, chip)({}) > self.budget.vmem
        )

    def dimensions(self) -> list[tuple[SSAValue, int]]:
        """The dimensions of arrays that are loaded whole, and with too much beside, the largest first."""
        found: dict[tuple[SSAValue, int], int] = {}
        for op in walk(self.grid) if self.is_full else ():
            if isinstance(op, LoadOp) and self._is_large(op.result):
                shape = op.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
                found |= {(op.memory, n): shape[n] for n, entry in enumerate(op.entries) if isinstance(entry, AllAttr)}
        return sorted(found, key=lambda one: -found[one])

    def fits(self, found: Walkable) -> bool:
        """Whether the values with a dimension may stay as they are."""
        return not any(self._is_large(value) for value, _ in found.values)

    def size(self, found: Walkable) -> int:
        """Lanes of a part: a power of two, so many that the largest value is as large as it should be."""
        others = max(prod(map(next_power_of_two, self._shape(value, dim))) for value, dim in found.values)
        return self.budget.walked_lanes(others, any(isinstance(op, DotOp) for op in found.reductions))

    def _is_large(self, value: SSAValue) -> bool:
        """Whether a value is too large to stay as it is, where a cell is full."""
        if isinstance(self.budget.chip, GpuChip):
            return not Budget.holds_in_registers(prod(map(next_power_of_two, self._shape(value))))
        return Budget.is_large(register_bytes(self._shape(value), 32))

    def _shape(self, value: SSAValue, without: int | None = None) -> list[int]:
        sizes = enumerate(tile_type(value).shape)
        return [self.cut.get((value, n), size) for n, size in sizes if n != without]
