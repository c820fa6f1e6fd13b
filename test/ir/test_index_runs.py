"""Index lists in normal form: which indices are runs along dimensions of their own; checked against NumPy's numbers."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.ir.division import floordiv, mod
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import ZERO, IndexExpr, lane, number, symbol
from kopt.ir.index_runs import IndexList, IndexRun, index_run

ROWS, LANES = lane(0, 4), lane(1, 8)
SHAPE = (4, 8)
N = symbol("n")
#: What nothing but its name tells, one for each row.
LOADED = symbol("loaded", (0,))

RUNS = {
    "lanes": (LANES, IndexRun(ZERO, 8, (1,))),
    "from a number on": (N + LANES + 3, IndexRun(N + 3, 8, (1,))),
    "rows of lanes": (ROWS * 8 + LANES, IndexRun(ZERO, 32, (0, 1))),
    "every third": (N + LANES * 3, IndexRun(N, 8, (1,), 3)),
    "one number": (N, IndexRun(N, 1)),
    "backwards": (number(7) - LANES, None),
    "columns of rows": (LANES * 4 + ROWS, None),
    "gaps": (ROWS * 10 + LANES, None),
    "loaded": (LOADED, None),
    "loaded and lanes": (LOADED + LANES, None),
    "groups that are whole": (floordiv(LANES, 2) * 2 + mod(LANES, 2), IndexRun(ZERO, 8, (1,))),
}


@pytest.mark.parametrize("index, run", RUNS.values(), ids=RUNS)
def test_runs(index: IndexExpr, run: IndexRun | None):
    assert index_run(index, SHAPE) == run


@pytest.mark.parametrize("index, run", [case for case in RUNS.values() if case[1] is not None])
def test_a_run_has_the_numbers_of_its_index(index: IndexExpr, run: IndexRun):
    value = np.broadcast_to(evaluate(index, {"n": 40}, SHAPE), SHAPE)
    others = tuple(dim for dim in range(2) if dim not in run.dims)
    lanes = np.moveaxis(value, others, range(len(others))).reshape(-1, run.size)
    first = int(evaluate(run.first, {"n": 40}))
    assert (lanes == first + run.step * np.arange(run.size)).all()


LISTS = {
    # indices: which are runs, what is gathered, the order of the dimensions, whether it is a box
    "a box": ((ROWS, LANES), (True, True), (), (0, 1), True),
    "a transposed box": ((LANES, N + ROWS), (True, True), (), (1, 0), True),
    "a diagonal": ((LANES, LANES), (False, False), (0, 1), (0, 1), False),
    "rows by number": ((LOADED, LANES), (False, True), (0,), (0, 1), False),
    "rows by number, last": ((LANES, LOADED), (True, False), (0,), (1, 0), False),
    "one for both": ((ROWS * 8 + LANES,), (True,), (), (0, 1), True),
    "repeated": ((LANES,), (True,), (0,), (1,), False),
    "steps": ((ROWS, LANES * 2), (True, True), (), (0, 1), False),
}


@pytest.mark.parametrize("indices, runs, gathered, order, is_box", LISTS.values(), ids=LISTS)
def test_lists(indices, runs, gathered, order, is_box):
    found = IndexList.of(indices, SHAPE)
    assert tuple(run is not None for run in found.runs) == runs
    assert (found.gathered, found.order, found.is_box) == (gathered, order, is_box)
    assert found.repeats == (all(runs) and bool(gathered))


def test_gathered_indices_of_a_dimension_each_stand_in_their_order():
    found = IndexList.of([symbol("columns", (1,)), LOADED], SHAPE)
    assert found.runs == (None, None) and found.gathered == found.order == (1, 0)


def test_a_run_may_be_gathered():
    found = IndexList.of([LOADED, LANES], SHAPE).gathering(1)
    assert found.runs == (None, None) and found.order == (0, 1)


def test_dimensions_of_one_lane_are_counted_by_none():
    found = IndexList.of([lane(1, 8)], (1, 8))
    assert found.is_box and found.order == (1,)
