"""Runs of lanes along the last dimension: step, first elements, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.lane_runs import along_last, lane_run, run_along_last, single
from kopt.ir.division import floordiv, mod
from kopt.ir.index_expr import IndexExpr, lane, symbol
from kopt.ir.polynomial import parameter
from kopt.ir.sums import SumAnalysis
from test.ir.expressions import SHAPE, cases, evaluated

from .gathers import Gather

starts, j = symbol("starts", [0]), lane(1, 64)


@pytest.mark.parametrize(
    ("form", "step", "const", "pitch"),
    [
        (starts * 20 + j * 2, 2, 0, 20),
        (starts * 20 + j + 3, 1, 3, 20),
        (starts * 20 + lane(0, 4) * 8 + j - 5, 1, -5, 4),
        (starts + j, 1, 0, 1),
        (j * 7 + 40, 7, 40, 0),
    ],
    ids=str,
)
def test_lanes_count(form: IndexExpr, step: int, const: int, pitch: int) -> None:
    found = run_along_last(form, (4, 64))
    assert found is not None and (found.step, found.size, found.const, found.pitch) == (step, 64, const, pitch)
    assert found.first + j * step == form and 1 not in found.first.along


@pytest.mark.parametrize(
    "form",
    [
        starts * 20 - j,
        starts * 20,
        starts + floordiv(j, 2),
        starts + mod(j, 8),
        symbol("columns", [1]) + j,
        j * parameter("size"),
    ],
    ids=str,
)
def test_others_do_not(form: IndexExpr) -> None:
    """Backwards, alike, in groups, as loaded numbers do, or in steps that are not chosen yet."""
    assert run_along_last(form, (4, 64)) is None


def test_runs_are_the_numbers() -> None:
    found = 0
    for case in cases(300, seed=40):
        run = run_along_last(case.expr + lane(1, SHAPE[1]) * 3, SHAPE)
        if run is None:
            continue
        found += 1
        first, counted = evaluated(run.first), np.arange(SHAPE[1])
        assert (first == first[:, :1]).all() and run.step > 0 and run.size == SHAPE[1]
        assert (first + run.step * counted == case.value + 3 * counted).all(), str(case.expr)
    assert found > 20


def test_index_tiles() -> None:
    """``20·starts + 2·j``: as a run, as lanes of their own, and as steps along the last dimension."""
    gather, sums = Gather("800xf32", "%at", "a = mul r, 20", "b = mul j, 2", "at = add a, b"), SumAnalysis()
    run = lane_run(gather.index(), sums)
    assert run is not None and (run.step, run.size, run.pitch) == (2, 32, 20)
    alone = single(gather.index(), sums)
    assert (alone.first, alone.step, alone.size) == (sums.expr(gather.index()), 1, 1)
    steps = along_last(gather.index(), sums)
    assert steps is not None and (steps.start, steps.step) == (run.first, 2)


@pytest.mark.parametrize(("op", "step"), [("at = add r, 3", 0), ("at = sub r, j", -1)])
def test_steps_of_what_is_no_run(op: str, step: int) -> None:
    gather, sums = Gather("800xf32", "%at", op), SumAnalysis()
    found = along_last(gather.index(), sums)
    assert lane_run(gather.index(), sums) is None and found is not None and found.step == step
    assert along_last(Gather("800xf32", "%at", "at = floordiv j, 2").index(), SumAnalysis()) is None
