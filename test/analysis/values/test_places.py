"""Memory that comes for gathers from flat storage: units counted against the elements that lanes have."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.places import (
    GatherPlaces,
    best_places,
    cases_of,
    comes_by_dma,
    comes_whole,
    flat_index,
    is_held,
    least_units,
    memory_for,
    other_dim,
    row_places,
    unit_of,
    units_of_runs,
)
from kopt.ir.access_relation import settled
from kopt.ir.index_expr import ZERO, lane, symbol
from kopt.ir.sums import SumAnalysis
from kopt.targets.chips import TPU_CHIPS

from .gathers import SHAPE, Gather

V5P = TPU_CHIPS["v5p"]
BIG = "1048576xf32"
ROWS = ("a = mul r, 128", "at = add a, j")


def places_of(array: str, *ops: str) -> tuple[Gather, GatherPlaces | None]:
    gather = Gather(array, "%at", *ops)
    extent = int(array.split("x")[0])
    index = settled(SumAnalysis().exact.expr(gather.index()), extent)
    return gather, best_places(index, SHAPE, unit_of(gather.load))


@pytest.mark.parametrize(
    ("ops", "dims", "count"),
    [
        (ROWS, (0,), 1),
        (("a = mul r, 128", "b = mod j, 8", "c = add a, b", "at = add c, 120"), (0,), 1),
        (("a = mul r, 128", "b = add a, 120", "at = add b, j"), (0,), 2),  # 120 to 151 of each row
        (("a = mod j, 8", "b = add r, a", "at = sub 400000, b"), (0,), 2),  # eight elements anywhere
        (("at = add n, j",), (), 2),  # 8 rows and 32 columns: 39 elements from a multiple of 8 on
        (("a = mul n, 16", "at = add a, j"), (), 2),  # 144 elements from a multiple of 128 on
    ],
)
def test_best_places(ops: tuple[str, ...], dims: tuple[int, ...], count: int) -> None:
    """Every lane is ``distance`` after its place's first element, and in ``count`` units from that one's on."""
    gather, found = places_of(BIG, *ops)
    assert found is not None and (found.dims, found.count) == (dims, count)
    assert found.units(SHAPE) == count * (8 if dims else 1)
    exact, random = SumAnalysis().exact, np.random.default_rng(1)
    for block in (0, 3, 7):
        starts = random.integers(1, 2000, 8)
        lanes = gather.numbers(exact.expr(gather.index()), starts, block)
        first, distance = (gather.numbers(expr, starts, block) for expr in (found.first, found.distance))
        alike = [dim for dim in (0, 1) if dim not in dims]
        assert all((first == np.take(first, [0], dim)).all() for dim in alike)
        assert (lanes == first + distance).all() and (distance >= 0).all()
        assert (lanes // 128 - first // 128 < count).all()


@pytest.mark.parametrize(
    ("index", "shape", "wanted"),
    [
        (symbol("n", [0, 1]), (4, 8), None),  # loaded numbers differ from lane to lane
        (lane(0, 4) * 128 + lane(1, 8), (4, 8), 4),  # 392 elements are in 4 units
        (lane(0, 4) + lane(1, 8) * 100000, (4, 8), 8),  # eight places of four elements, from a multiple of 32 on
        (lane(1, 8), (1, 8), 1),
    ],
)
def test_units_of_the_best(index, shape: tuple[int, int], wanted: int | None) -> None:
    found = best_places(index, shape, 128)
    assert (None if found is None else found.units(shape)) == wanted


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        (symbol("n", [0, 1]), 4 * 8),
        (symbol("n", [0]) * 128 + lane(1, 8), 4),
        (symbol("n", [0]) + lane(1, 8), 4 * 2),
        (symbol("n", [0]) + lane(1, 8) * 100, 4 * 7),  # 701 elements from anywhere are in 7 units
        (symbol("n", [0]) * 128 + lane(1, 8) * 100, 4 * 6),
        (symbol("n", [0]) - lane(1, 8), 4 * 8),
    ],
)
def test_units_of_runs_of_a_form(index, wanted: int) -> None:
    """A row of 8 lanes each, or lanes by themselves, where places tell nothing: names here are no values."""
    assert least_units(index, index, (4, 8), 128) == wanted


@pytest.mark.parametrize(
    ("ops", "wanted"),
    [(ROWS, 8), (("at = add r, j",), 16), (("at = sub r, j",), 256), (("a = mul j, 200", "at = add a, r"), 256)],
)
def test_units_of_runs(ops: tuple[str, ...], wanted: int) -> None:
    assert units_of_runs(Gather(BIG, "%at", *ops).load, SumAnalysis()) == wanted


@pytest.mark.parametrize(
    ("array", "units", "wanted"),
    [("1024xf32", 8, True), ("1024xf32", 7, False), ("1025xf32", 8, False), ("65536xf32", 512, True),
     ("65537xf32", 9999, False), ("1024xbf16", 1, True), ("1025xbf16", 1, False)],
)  # fmt: skip
def test_small_arrays_come_whole(array: str, units: int, wanted: bool) -> None:
    """Of no more units than are asked for, and of 256 KiB at most."""
    assert comes_whole(Gather(array, "%at", *ROWS).load, units) is wanted


@pytest.mark.parametrize(("units", "wanted"), [(0, False), (3, False), (4, True)])
def test_held_for_all_blocks(units: int, wanted: bool) -> None:
    """8 blocks of the grid ask for 8 times as many, of which the array, of 128, may be four times."""
    assert is_held(Gather("16384xf32", "%at", *ROWS).load, units) is wanted


@pytest.mark.parametrize(("array", "wanted"), [("8192xf32", False), ("8193xf32", True), (BIG, True)])
def test_fewer_units_than_the_array_come_by_dma(array: str, wanted: bool) -> None:
    """8 blocks of 8 places are 64 units: those of 8192 words. One place for a block always does."""
    load = Gather(array, "%at", *ROWS).load
    assert comes_by_dma(load, GatherPlaces((0,), ZERO, 1, ZERO)) is wanted
    assert comes_by_dma(load, GatherPlaces((), ZERO, 1, ZERO))


@pytest.mark.parametrize(
    ("array", "ops", "wanted"),
    [
        ("1024xf32", ROWS, "whole"),
        ("8192xf32", ("a = mul n, 16", "at = add a, j"), "near"),  # 64 units, of 8 blocks of 2
        ("16384xf32", ("a = mul n, 16", "at = add a, j"), ()),  # of the array much is not asked for
        (BIG, ROWS, None),  # runs are as few units
        (BIG, ("a = mul r, 128", "b = mod j, 8", "at = add a, b"), (0,)),
        ("1048576xf64", ROWS, None),
    ],
)
def test_memory_for(array: str, ops: tuple[str, ...], wanted) -> None:
    load = Gather(array, "%at", *ops).load
    found = memory_for(load, SumAnalysis(), V5P)
    assert (found.dims if isinstance(found, GatherPlaces) else found) == wanted


@pytest.mark.parametrize(
    ("array", "entries", "wanted"),
    [("8192xf32", "%at", True), ("8192xf64", "%at", False), ("64x8192xf32", "%r, %at", False)],
)
def test_flat_index(array: str, entries: str, wanted: bool) -> None:
    load = Gather(array, entries, *ROWS).load
    assert flat_index(load) is (load.indices[-1] if wanted else None)


@pytest.mark.parametrize(
    ("entries", "wanted"),
    [
        ("%r, %at", (0,)),  # rows differ along 0, which columns repeat them along 1
        ("%at, %r", None),  # every place has a row of its own
        ("3, %at", None),  # the rows are no tile
        ("%j, %n", (1,)),
    ],
)
def test_row_places(entries: str, wanted: tuple[int, ...] | None) -> None:
    assert row_places(Gather("64x256xf32", entries, "at = add r, j").load, SumAnalysis()) == wanted


@pytest.mark.parametrize(
    ("dims", "shape", "index", "wanted"),
    [
        ((0,), (4, 8), lane(1, 8), 1),
        ((0,), (4, 8), lane(0, 4) + lane(1, 8), None),  # not the same for all places
        ((1,), (4, 8), lane(0, 4), 0),
        ((0,), (4, 1, 8), lane(2, 8), 2),
        ((0,), (4, 2, 8), lane(2, 8), None),  # two others
        ((0, 1), (4, 2, 8), lane(2, 8), None),  # places along two
        ((0,), (4, 1), ZERO, None),
        ((0,), (4, 8), ZERO, 1),
    ],
)
def test_other_dim(dims, shape, index, wanted: int | None) -> None:
    assert other_dim(dims, shape, index) == wanted


def test_cases_of_a_choice() -> None:
    """Each case has places of its own: 8 lanes far from one another, of two blocks. None where there is no choice."""
    ops = ("c = mod j, 8", "a = mul n, 4096", "b = add a, c", "d = sub 500000, b", "p = lt n, 20")
    gather = Gather(BIG, "%at", *ops, "at = select p, b, d")
    found = cases_of(gather.load, SumAnalysis())
    assert found is not None
    condition, pieces = found
    assert len(pieces) == 2 and condition.along <= {0}
    assert cases_of(Gather(BIG, "%at", *ROWS).load, SumAnalysis()) is None
