"""Which formulation of an update takes the fewest cycles: estimates from sizes, measured with libtpu's own estimates.

Only what differs between the formulations counts: the values and the array come and go in all of them. The numbers are
fitted to what libtpu estimates for single cells of 64 to 256 rows on v6e and v5e.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.dialects.tile import COMBINING_OPS, AllAttr, Entry, GridOp, RangeType, is_float
from kopt.ir.ranges import binding, walked_range
from kopt.passes.scatters.formulations import MOST_ROWS
from kopt.passes.scatters.update import Update, is_exact_in_bf16
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import LANES, window_bytes

#: Cycles of a host op that pads.
_PADDING = 2000


@dataclass(frozen=True)
class Sizes:
    """What the choice depends on: rows of the target, updated rows, elements of a row, and kind of update.

    ``visits`` are the rows that a loop takes, ``staged`` whether their numbers must be moved to scalar memory.
    """

    target: int
    rows: int
    width: int
    flat: bool
    commutes: bool
    sums: bool
    narrow: bool
    visits: int
    staged: bool

    @classmethod
    def of(cls, update: Update, shape: tuple[int, ...]) -> Sizes:
        """The sizes of an update of an array of a shape."""
        flat = len(shape) == 1
        commutes = update.kind in COMBINING_OPS and update.previous is None
        sums = commutes and update.kind == "add" and is_float(update.element)
        staged = flat or update.origin is None
        visits = update.rows if staged or update.origin is None else update.origin.most
        narrow = is_exact_in_bf16(update)
        return cls(shape[0], update.rows, update.width, flat, commutes, sums, narrow, visits, staged)


def candidates(sizes: Sizes, chip: TpuChip) -> dict[str, float]:
    """The formulations on chip that can write an update, with their estimated cycles."""
    found = {"rows": _rows(sizes)}
    if sizes.sums and not sizes.flat and sizes.rows <= MOST_ROWS:
        found["one-hot"] = _product(sizes, chip.mxu_size)
    if sizes.commutes and sizes.flat and sizes.rows * sizes.target <= Budget.COMPARED:
        found["one-hot"] = _reduction(sizes)
    return found


def fits(update: Update, shape: tuple[int, ...], chip: TpuChip) -> bool:
    """Whether the target's rows can stay in VMEM: twice as they come and twice as they go, in half of it."""
    rows, flat = shape[0], len(shape) == 1
    row = [_resident(entry, extent) for entry, extent in zip(update.rest, shape[1:], strict=True)]
    block = [-(-rows // LANES), LANES] if flat else [rows, *(size for size in row if size)]
    return Budget(chip).holds_updated(window_bytes(block, 32))


def _resident(entry: Entry, extent: int) -> int:
    """How much of a dimension a cell's window has: a block of the grid's, or all that its own loops walk.

    Zero for a dimension that one index picks: the window is without it.
    """
    if isinstance(entry, AllAttr):
        return extent
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType):
        return 0
    bound = binding(entry)
    outer = walked_range(bound) or entry
    in_grid = isinstance(binding(outer).owner, GridOp)
    assert isinstance(outer.type, RangeType)
    return outer.type.size if in_grid else extent


def _rows(sizes: Sizes) -> float:
    """The row numbers' way to scalar memory, and a visit a row: wide rows cost no more until they fill the units."""
    width = LANES if sizes.flat else sizes.width
    return (1250 if sizes.staged else 300) + sizes.visits * max(20, width / LANES * 3)


def _product(sizes: Sizes, unit: int) -> float:
    """The values split into parts that bf16 holds, the one-hot matrix, and the matrix unit's passes over its rows.

    Before them the host pads values that are fewer than a block.
    """
    passes = 1 if sizes.narrow else 6
    pushes = passes * sizes.target / 8 * -(-sizes.rows // unit) * -(-sizes.width // unit)
    padding = _PADDING if sizes.visits < sizes.rows else 0
    return padding + 250 + 200 * passes + 3 * sizes.target * sizes.rows / 1024 + 2.5 * pushes


def _reduction(sizes: Sizes) -> float:
    """A comparison, a selection and a combination of every lane with every element."""
    return 1250 + sizes.target * sizes.rows / 1024
