"""What code knows of masks of element numbers: constants in one block, in unrolled loops and in versions of cells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.ir.atoms import Lane
from kopt.ir.condition import comparison
from kopt.ir.index_expr import ZERO, block_number, of_atom
from kopt.ir.launch_model import LaneMask, Work
from kopt.ir.value_range import ValueRange
from kopt.planning.trips import Trips
from kopt.planning.versions import ALL, LoopVersions, constant_shares, has_versions

from .launches import axis, matmul, matmul_plan

ROWS, COLUMNS = (block_number(tag, 512, ValueRange(0, 3 * 512)) for tag in ("i", "k"))
#: Rows of at least the column's number: blocks of 512 by 512 on and below the diagonal.
CAUSAL = LaneMask(
    comparison("ge", ROWS * 512 + of_atom(Lane(0, 512)) - COLUMNS * 512 - of_atom(Lane(1, 512))),
    (("i", 512), ("k", 512)),
)


@pytest.mark.parametrize(("rows", "columns", "unrolled", "shares"), [(1, 1, 1, (0.625, 0.25)), (2, 1, 1, ALL)])
def test_a_mask_of_one_block_is_a_constant(rows: int, columns: int, unrolled: int, shares) -> None:
    trips = {"i": Trips(rows), "k": Trips(columns)}
    assert constant_shares(CAUSAL, {}, trips, {"k": unrolled}) == pytest.approx(shares)


def test_a_mask_of_an_unrolled_loop_is_one() -> None:
    """Of the second block of columns no register is below the diagonal."""
    trips = {"i": Trips(1), "k": Trips(2)}
    assert constant_shares(CAUSAL, {}, trips, {"k": 2}) == pytest.approx((0.3125, 0.125))
    assert constant_shares(CAUSAL, {}, trips, {}) == ALL


def test_cells_with_other_trips_are_versions() -> None:
    """Two cells: one visit on the diagonal, and one before it and one on it."""
    base = matmul(1024, 1024, 1024)
    loop = replace(axis("k", 512, 0, "loop", ("i",)), lower=ZERO, upper=ROWS * 512 + 512)
    work = Work("elementwise", CAUSAL.dims, "f32", ("i", "k"), mask=CAUSAL)
    found = LoopVersions(replace(base, work=(work,)), loop, "i", {}, {"i": Trips(2), "k": Trips(1.5)})
    assert found.straight == 1
    assert found.shares[CAUSAL] == pytest.approx(((1 + 2 * 0.625) / 3, 2 * 0.25 / 3))


def test_loops_that_copy_have_none() -> None:
    model = matmul(1024, 1024, 1024)
    assert not has_versions(model, matmul_plan("prefetch"))
