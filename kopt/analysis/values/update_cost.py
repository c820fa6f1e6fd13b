"""How many cycles each way to write an update takes: estimates from sizes, measured with libtpu's own estimates. Pure.

Only what differs between the ways counts: the values and the array come and go in all of them. The numbers are fitted
to what libtpu estimates for single cells of 64 to 256 rows on v6e and v5e.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import bf16
from xdsl.ir import SSAValue

from kopt.analysis.values.origin import origin_of
from kopt.analysis.values.updates import UpdateOp, gathered, kind_of, places_of, previous_of, values_of
from kopt.dialects.tile import COMBINING_OPS, AllAttr, Entry, GridOp, RangeType, array_type, is_float, tile_type
from kopt.ir.ranges import binding, walked_range
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import LANES, SUBLANES, window_bytes

#: Rows of values that one product can take: more would not be counted right where they are infinite.
MOST_ROWS = 4095
#: Cycles of a host op that pads.
_PADDING = 2000


@dataclass(frozen=True)
class UpdateSizes:
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
    def of(cls, op: UpdateOp) -> UpdateSizes:
        """The sizes of an update, as one of an array with the dimensions that row numbers index first, and merged."""
        positions, shape = gathered(op), array_type(op.memory).get_shape()
        value = tile_type(values_of(op)[-1])
        first, count = places_of(op)
        rows = prod(value.shape[first : first + count])
        commutes = kind_of(op) in COMBINING_OPS and previous_of(op) is None
        flat, found = len(positions) == len(shape), origin_of(op)
        return cls(
            target=prod(shape[position] for position in positions),
            rows=rows,
            width=prod(value.shape) // max(1, rows),
            flat=flat,
            commutes=commutes,
            sums=commutes and kind_of(op) == "add" and is_float(value.element_type),
            narrow=value.element_type == bf16,
            visits=rows if flat or found is None else found.most,
            staged=flat or found is None,
        )


def cycles(sizes: UpdateSizes, chip: TpuChip) -> dict[str, float]:
    """The kinds of buffers on chip by which an update can be written, with their estimated cycles."""
    found = {"row_loop": _rows(sizes)}
    if sizes.sums and not sizes.flat and sizes.rows <= MOST_ROWS:
        found["one_hot"] = _product(sizes, chip.mxu_size)
    if sizes.commutes and sizes.flat and sizes.rows * sizes.target <= Budget.COMPARED:
        found["one_hot"] = _reduction(sizes)
    return found


def most_compared(op: UpdateOp) -> tuple[str, int] | None:
    """The tag of the lanes of an update, and how many of them comparisons can do at once; None where they cannot.

    A loop over more lanes takes several times as long, one after the other.
    """
    if not gathered(op):
        return None
    type, sizes = tile_type(values_of(op)[-1]), UpdateSizes.of(op)
    if not (sizes.commutes and sizes.flat and type.rank == 1 and type.tags[0]):
        return None
    most = Budget.COMPARED // max(1, sizes.target)
    return (type.tags[0], most) if most >= LANES * SUBLANES else None


def fits(op: UpdateOp, chip: TpuChip) -> bool:
    """Whether the array's rows can stay in VMEM: twice as they come and twice as they go, in half of it."""
    positions, shape = gathered(op), array_type(op.memory).get_shape()
    rows, flat = prod(shape[position] for position in positions), len(positions) == len(shape)
    row = [_resident(entry, shape[n]) for n, entry in enumerate(op.entries) if n not in positions]
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


def _rows(sizes: UpdateSizes) -> float:
    """The row numbers' way to scalar memory, and a visit a row: wide rows cost no more until they fill the units."""
    width = LANES if sizes.flat else sizes.width
    return (1250 if sizes.staged else 300) + sizes.visits * max(20, width / LANES * 3)


def _product(sizes: UpdateSizes, unit: int) -> float:
    """The values split into parts that bf16 holds, the one-hot matrix, and the matrix unit's passes over its rows.

    Before them the host pads values that are fewer than a block.
    """
    passes = 1 if sizes.narrow else 6
    pushes = passes * sizes.target / 8 * -(-sizes.rows // unit) * -(-sizes.width // unit)
    padding = _PADDING if sizes.visits < sizes.rows else 0
    return padding + 250 + 200 * passes + 3 * sizes.target * sizes.rows / 1024 + 2.5 * pushes


def _reduction(sizes: UpdateSizes) -> float:
    """A comparison, a selection and a combination of every lane with every element."""
    return 1250 + sizes.target * sizes.rows / 1024
