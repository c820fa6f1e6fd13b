"""Lanes that have the elements of others: groups by hand, and against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis.values.repeats import dims_apart, few, first_of, index_tiles, repeats
from kopt.ir.division import floordiv, mod
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import lane
from kopt.ir.sums import SumAnalysis
from test.ir.expressions import SHAPE, cases, evaluated

from .gathers import Gather

MATRIX, FLAT = "1024x4096xf32", "4194304xf32"


@pytest.mark.parametrize(
    ("array", "entries", "ops", "wanted"),
    [
        (MATRIX, "%r, 3", (), (1, 32)),  # all columns have a row's element
        (MATRIX, "%j, 3", (), (8, 1)),
        (MATRIX, "%r, %j", (), None),  # every lane its own
        (MATRIX, "%r, %at", ("at = floordiv j, 4",), None),  # a row comes whole anyway
        (MATRIX, "%at, %r", ("at = floordiv j, 4",), (1, 4)),  # rows in groups of four
        (MATRIX, "%at, 3", ("at = floordiv j, 4",), (8, 4)),
        (FLAT, "%r", (), (1, 32)),
        (FLAT, "%at", ("a = floordiv j, 4", "b = mul a, 4096", "c = mul r, 64", "at = add b, c"), (1, 4)),
        (FLAT, "%at", ("at = add r, j",), None),
        (
            MATRIX,
            "%c, %at",
            ("a = mul n, 0", "c = add a, 7", "at = floordiv j, 4"),
            (8, 1),
        ),  # of one row, which comes whole
        (FLAT, "%c", ("a = floordiv n, 2", "b = mul a, 0", "c = add b, 7"), None),  # one element
    ],
)
def test_groups(array: str, entries: str, ops: tuple[str, ...], wanted: tuple[int, int] | None) -> None:
    assert repeats(Gather(array, entries, *ops).load, SumAnalysis()) == wanted


def test_masks_may_differ_where_indices_do_not() -> None:
    ops = ("m = lt j, 5",)
    assert repeats(Gather(MATRIX, "%r, 3", *ops).load, SumAnalysis()) == (1, 32)
    assert repeats(Gather(MATRIX, "%r, 3", *ops, mask="m").load, SumAnalysis()) is None


@pytest.mark.parametrize(
    ("shape", "groups", "wanted"), [((8, 32), (1, 4), (8, 8)), ((8, 32), (8, 32), (1, 1)), ((), (), ())]
)
def test_few(shape: tuple[int, ...], groups: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    assert few(shape, groups) == wanted


@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (1, 3), (4, 2), (4, 6)])
def test_first_lanes(groups: tuple[int, int]) -> None:
    """Quotients of lanes, over the first ones of each group, are every n-th number."""
    rows, columns = lane(0, 4), lane(1, 6)
    expr = rows * 10 + floordiv(columns, 2) * 3 + mod(rows + columns, 4)
    whole = np.broadcast_to(evaluate(expr, {}, (4, 6)), (4, 6))
    shape = few((4, 6), groups)
    found = np.broadcast_to(evaluate(first_of(expr, (4, 6), groups), {}, shape), shape)
    assert (found == whole[:: groups[0], :: groups[1]]).all()


def test_one_group_is_the_expression() -> None:
    for case in cases(100, seed=50):
        assert (evaluated(first_of(case.expr, SHAPE, (1, 1))) == case.value).all(), str(case.expr)


def test_index_tiles() -> None:
    gather = Gather(MATRIX, "5, %r")
    assert index_tiles(gather.load.entries) == {1: gather.index()}
    assert index_tiles([3, gather.values["i"]]) == {}


@pytest.mark.parametrize(
    ("entries", "ops", "wanted"),
    [
        ("%r, 3", (), (1, 32)),
        ("%j, 3", (), (8, 1)),
        ("%r, %j", (), (1, 1)),
        ("%at, 3", ("a = mul r, 0", "at = add a, 5"), (8, 32)),
    ],
)
def test_dims_apart(entries: str, ops: tuple[str, ...], wanted: tuple[int, int]) -> None:
    assert dims_apart(Gather(MATRIX, entries, *ops).load.entries, SumAnalysis()) == wanted


def test_dims_apart_of_no_tile() -> None:
    assert dims_apart([3], SumAnalysis()) == ()
