"""Vectors whose lanes become rows: what is loaded or computed of such, not what a reduction has in rows already."""

from __future__ import annotations

import pytest

from kopt.analysis.launch_models.spreads import is_spread
from kopt.dialects.tile import BroadcastOp, ReshapeOp
from kopt.walk import walk
from test.analysis.launch_models.test_parts import launch, units

ROWS, BLOCK = "!tile.tile<b0=8 x f32>", "!tile.tile<b0=8 x b1=20 x f32>"
LANES = f"%v = tile.load %x[%i, 0] : memref<100x60xf32> -> {ROWS}"
SUMS = f"%w = tile.load %x[%i, %j] : memref<100x60xf32> -> {BLOCK}\n%v = tile.reduce add %w [1] : {BLOCK}"
EXP = f"%e = tile.exp %v : {ROWS}"
TO_ROWS = f"%b = tile.broadcast %e dims [0] : {ROWS} to {BLOCK}"
KEPT = f"%b = tile.reshape %e : {ROWS} to !tile.tile<b0=8 x 1 x f32>"


def spreads(*body: str) -> bool:
    last = [*walk(launch(*body).grid, BroadcastOp), *walk(launch(*body).grid, ReshapeOp)][-1]
    return is_spread(last)


@pytest.mark.parametrize("end", [TO_ROWS, KEPT])
def test_lanes_that_become_rows(end: str) -> None:
    assert spreads(LANES, EXP, end)
    assert units(LANES, EXP, end)["spread"] == ((("b0", 8), ("", 1)), "f32", 1)


@pytest.mark.parametrize("end", [TO_ROWS, KEPT])
def test_sums_of_rows_stand_in_rows(end: str) -> None:
    assert not spreads(SUMS, EXP, end) and "spread" not in units(SUMS, EXP, end)


def test_what_is_made_of_lanes_and_of_sums_has_lanes() -> None:
    other = f"%u = tile.load %x[%i, 1] : memref<100x60xf32> -> {ROWS}\n%e = tile.add %u, %v : {ROWS}"
    assert spreads(SUMS, other, TO_ROWS)


@pytest.mark.parametrize(
    ("value", "end"),
    [
        (f"%e = tile.full 1.0 : {ROWS}", TO_ROWS),
        (LANES.replace("%v", "%e"), f"%b = tile.broadcast %e dims [1] : {ROWS} to !tile.tile<20 x b0=8 x f32>"),
        (LANES.replace("%v", "%e"), f"%b = tile.reshape %e : {ROWS} to !tile.tile<1 x b0=8 x f32>"),
    ],
)
def test_constants_and_lanes_that_stay(value: str, end: str) -> None:
    assert not spreads(value, end)
