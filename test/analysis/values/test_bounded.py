"""Elements that all lie near one number: the block that has them, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.bounded import Bounded, bounded
from kopt.ir.from_ssa import IndexAnalysis

from .gathers import Gather

BIG = "65536xf32"
BOUNDED = {
    # What is added to a row number of the grid's block: rows of 128 that hold all of it.
    "consecutive": (("at = add n, j",), 1),
    "backwards": (("b = sub 4000, n", "at = sub b, j"), 1),
    "by a stride": (("a = mul n, 16", "at = add a, j"), 2),  # up to 7 · 16 + 31
    "modulo": (("a = mod r, 300", "at = add a, j"), 3),
    "clamped": (("a = minimum r, 255", "b = maximum a, 0", "at = add b, j"), 3),
}


def found(array: str, *ops: str) -> tuple[Gather, Bounded | None]:
    gather = Gather(array, "%at", *ops)
    return gather, bounded(gather.load, IndexAnalysis())


@pytest.mark.parametrize(("ops", "rows"), BOUNDED.values(), ids=BOUNDED)
def test_every_lane_is_in_the_block(ops: tuple[str, ...], rows: int) -> None:
    gather, block = found(BIG, *ops)
    assert block is not None and block.rows == rows
    random, analysis = np.random.default_rng(0), IndexAnalysis()
    for number in (0, 7):
        starts = random.integers(0, 60000, 8)
        places = gather.numbers(analysis.expr(gather.index()), starts, number)
        first = gather.numbers(block.first, starts, number)
        assert (places >= first).all() and (places < first + 128 * block.rows).all()


@pytest.mark.parametrize(
    ("array", "ops"),
    [
        (BIG, ("at = add r, j",)),  # anywhere
        (BIG, ("a = mul n, 4000", "at = add a, j")),  # much more than is picked
        ("100xf32", ("at = add n, j",)),  # the array has no 128
        ("65536xi64", ("at = add n, j",)),  # no such elements on a TPU
    ],
)
def test_there_is_no_block(array: str, ops: tuple[str, ...]) -> None:
    assert found(array, *ops)[1] is None


def test_elements_of_several_dimensions_are_no_block() -> None:
    gather = Gather("512x128xf32", "%n, %j")
    assert bounded(gather.load, IndexAnalysis()) is None
