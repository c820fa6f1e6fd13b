"""Runs that gathers take: every lane inside of the span and the units that come, for starts wherever they may be."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.runs import runs, unit_of
from kopt.ir.sums import SumAnalysis

from .gathers import Gather

FLAT = {
    "rows": ("a = mul r, 128", "at = add a, j"),
    "rows from an element on": ("a = mul r, 128", "b = add a, 5", "at = add b, j"),
    "short rows": ("a = mul r, 20", "at = add a, j"),
    "anywhere": ("at = add r, j",),
    "every second": ("a = mul r, 64", "b = mul j, 2", "c = add a, b", "at = add c, 7"),
    "before the start": ("a = mul r, 64", "b = sub a, 3", "at = add b, j"),
}


@pytest.mark.parametrize("array", ["8192xf32", "65536xbf16", "262144xi8"])
@pytest.mark.parametrize("name", FLAT)
def test_flat_storage(name: str, array: str) -> None:
    """The first of a place is a multiple of ``fine``; its lanes are in ``units`` units from its own on."""
    gather, sums = Gather(array, "%at", *FLAT[name]), SumAnalysis()
    found = runs(gather.load, sums)
    assert found is not None and found.units is not None and found.forms == ()
    unit, random = unit_of(gather.load), np.random.default_rng(0)
    for _ in range(20):
        starts = random.integers(1, 60, 8)
        lanes, first = (gather.numbers(expr, starts) for expr in (sums.expr(gather.index()), found.run.first))
        assert (lanes == first + found.offset + found.run.step * np.arange(32)).all()
        assert (first % found.fine == 0).all() and unit % found.fine == 0
        assert (lanes - first < found.span).all()
        assert (lanes // unit - first // unit < found.units).all()
    assert found.units < 32 or found.units == 1


@pytest.mark.parametrize(
    ("name", "units"), [("rows", 1), ("rows from an element on", 1), ("short rows", 2), ("anywhere", 2)]
)
def test_no_more_units_than_needed(name: str, units: int) -> None:
    """32 lanes from a row's begin are in its unit; from multiples of 4, or anywhere, they may end in the next."""
    found = runs(Gather("8192xf32", "%at", *FLAT[name]).load, SumAnalysis())
    assert found is not None and found.units == units


@pytest.mark.parametrize(("array", "unit"), [("8192xf32", 128), ("8192xbf16", 1024), ("8192xi8", 4096)])
def test_units(array: str, unit: int) -> None:
    """Rows of 128 words; below 32 bits groups of 8 or 32 rows that lie in one tile."""
    assert unit_of(Gather(array, "%at", *FLAT["rows"]).load) == unit


@pytest.mark.parametrize(
    ("array", "entries", "ops"),
    [
        ("8192xf32", "%at", ("at = add j, 5",)),  # one run for all rows
        ("8192xf32", "%at", ("a = mul j, 128", "at = add a, r")),  # a unit for each lane
        ("8192xf64", "%at", FLAT["rows"]),
        ("64x8192xf32", "%r, %at", ("at = sub r, j",)),
        ("64x8192xf32", "%at, %b", ("at = add j, r", "b = add r, 0")),
        ("64x8192xf32", "3, %at", ("at = add j, 5",)),
    ],
    ids=["no starts", "far apart", "64 bits", "backwards", "one element of rows", "one number for all"],
)
def test_none(array: str, entries: str, ops: tuple[str, ...]) -> None:
    assert runs(Gather(array, entries, *ops).load, SumAnalysis()) is None


def test_rows_of_matrices() -> None:
    """Whole rows come: their own numbers are beside the run, and so is one number for all."""
    gather, sums = Gather("64x8192xf32", "%n, %at", "a = mul r, 8", "at = add a, j"), SumAnalysis()
    found = runs(gather.load, sums)
    assert found is not None and found.units is None
    assert found.forms == (sums.expr(gather.index(0)),) and (found.run.step, found.run.size, found.fine) == (1, 32, 8)
    single = Gather("64x8192xf32", "3, %at", "a = mul r, 8", "at = add a, j")
    found = runs(single.load, SumAnalysis())
    assert found is not None and found.forms == (None,)
