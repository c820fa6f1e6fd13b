"""Which formulation of an update takes the fewest cycles: estimates from sizes, measured with libtpu's own estimates.

Counted in vector registers of 8 rows by 128 lanes of 32 bits. Only what differs between the formulations counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from kopt.analysis.layouts import window_bytes
from kopt.dialects.tile import is_float
from kopt.passes.scatters.formulations import COMBINE, MOST_ROWS
from kopt.passes.scatters.target import LANES
from kopt.passes.scatters.update import Update, is_exact_in_bf16
from kopt.runtime.targets import TpuChip

#: Lanes by elements that a reduction may compare at once.
_LARGEST_COMPARISON = 1 << 18


@dataclass(frozen=True)
class Sizes:
    """What the choice depends on: rows of the target, updated rows, elements of a row, and kind of update."""

    target: int
    rows: int
    width: int
    flat: bool
    commutes: bool
    sums: bool
    narrow: bool

    @classmethod
    def of(cls, update: Update, shape: tuple[int, ...]) -> Sizes:
        """The sizes of an update of an array of a shape."""
        flat = len(shape) == 1
        commutes = update.kind in COMBINE and update.previous is None
        sums = commutes and update.kind == "add" and is_float(update.element)
        return cls(shape[0], update.rows, update.width, flat, commutes, sums, is_exact_in_bf16(update))


def candidates(sizes: Sizes) -> dict[str, float]:
    """The formulations on chip that can write an update, with their estimated cycles."""
    found = {"rows": _rows(sizes)}
    if sizes.sums and not sizes.flat and sizes.rows <= MOST_ROWS:
        found["one-hot"] = _product(sizes)
    if sizes.commutes and sizes.flat and sizes.rows * sizes.target <= _LARGEST_COMPARISON:
        found["one-hot"] = _reduction(sizes)
    return found


def fits(update: Update, shape: tuple[int, ...], chip: TpuChip) -> bool:
    """Whether the target's rows can stay in VMEM: twice as they come and twice as they go, in half of it."""
    rows, flat = shape[0], len(shape) == 1
    block = [-(-rows // LANES), LANES] if flat else [rows, *update.row.shape]
    return 4 * window_bytes(block, 32) <= chip.vmem_bytes // 2


def _registers(rows: int, lanes: int) -> int:
    return -(-rows // 8) * -(-lanes // LANES)


def _rows(sizes: Sizes) -> float:
    """A loop of scalar reads, and of reads and writes of single rows."""
    width = LANES if sizes.flat else sizes.width
    return 1000 + sizes.rows * (18 + 2 * -(-width // LANES))


def _product(sizes: Sizes) -> float:
    """The one-hot matrix, the product's passes through the matrix unit, and the sums."""
    passes = 1 if sizes.narrow else 6
    matrix = _registers(sizes.target, sizes.rows)
    pushes = passes * _registers(sizes.target, sizes.width) * -(-sizes.rows // LANES)
    return 300 + matrix + pushes + 2 * _registers(sizes.target, sizes.width)


def _reduction(sizes: Sizes) -> float:
    return 300 + 3 * _registers(sizes.rows, sizes.target)
