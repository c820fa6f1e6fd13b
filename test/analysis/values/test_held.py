"""Picks from a block on the chip: which are wanted, which pay, and where the block begins."""

from __future__ import annotations

import pytest

from kopt.analysis.values.held import picked, start_of
from kopt.dialects.tile import LoadOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO
from test.analysis.one_launch import OneLaunch, one_launch


def picks(
    array: str = "64x256xf32",
    block: str = ":",
    row: str = "%i",
    at: str = "%rows, %labels",
    dims: str = "b0=8",
    writes: str = "out",
) -> OneLaunch:
    """A block of rows, and one element of each."""
    rows, lanes, element = array.split("x")
    wide = ("b0=8 x " if row == "%i" else "") + (lanes if block == ":" else "b1=128")
    body = f"""%labels = tile.load %n[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
      %rows = tile.index %i : !tile.range<b0=8>
      %first = tile.begin %i : !tile.range<b0=8>
      %one = tile.load %n[%first] : memref<64xi32> -> !tile.tile<i32>
      %label = tile.extract %one : !tile.tile<i32> to index
      %block = tile.load %x[{row}, {block}] : memref<{array}> -> !tile.tile<{wide} x {element}>
      %v = tile.load %x[{at}] : memref<{array}> -> !tile.tile<{dims + " x " if dims else ""}{element}>"""
    grid = "(%i: b0=8) in (64)" if block == ":" else f"(%i: b0=8, %j: b1=128) in (64, {lanes})"
    return one_launch(body, grid, writes, x=array, n="64xi32", out="64xf32")


def holder(found: OneLaunch, **more):
    load = found["v"]
    assert isinstance(load, LoadOp)
    held = picked(load, found.launch, **more)
    return None if held is None else held.holder


def test_a_label_is_picked_from_its_row() -> None:
    found = picks()
    assert holder(found) is found["block"]


def test_among_others_there_is_none() -> None:
    found = picks()
    assert holder(found, among=[]) is None
    assert holder(found, among=[found["block"]]) is found["block"]


@pytest.mark.parametrize("element", ["f32", "bf16", "i8"])
def test_elements_of_up_to_32_bits_are_picked(element: str) -> None:
    assert holder(picks(f"64x256x{element}")) is not None


def test_elements_of_64_bits_are_not() -> None:
    assert holder(picks("64x256xi64")) is None


def test_a_column_that_is_known_is_not() -> None:
    assert holder(picks(at="%i, 5")) is None
    assert holder(picks(at="%rows, 5")) is None


def test_what_the_launch_writes_is_not() -> None:
    assert holder(picks(writes="x out")) is None


def test_a_block_itself_is_not() -> None:
    assert holder(picks(at="%i, :", dims="b0=8 x 256")) is None


@pytest.mark.parametrize(("array", "wanted"), [("64x256xf32", False), ("64x4096xf32", True), ("64x4096xi32", False)])
def test_a_scalar_is_picked_where_scalar_memory_holds_it_not(array: str, wanted: bool) -> None:
    """Floats only: other numbers have no need to be in vectors."""
    found = picks(array, row="%first", at="%first, %label", dims="")
    assert (holder(found) is not None) == wanted


def test_blocks_of_some_lanes_do_not_hold_all_labels() -> None:
    assert holder(picks("64x512xf32", "%j")) is None


def test_a_whole_dimension_begins_at_zero() -> None:
    found = picks()
    load = found["v"]
    assert isinstance(load, LoadOp)
    held = picked(load, found.launch)
    assert held is not None and start_of(held, IndexAnalysis(sums=True)) == ZERO


def test_a_range_begins_at_its_first_lane() -> None:
    """Numbers that are counted from there, and stay below its size."""
    body = """%rows = tile.index %i : !tile.range<b0=8>
      %ids = tile.load %n[%j] : memref<512xi32> -> !tile.tile<b1=128 x i32>
      %m = tile.full 128 : !tile.tile<b1=128 x i32>
      %low = tile.mod %ids, %m : !tile.tile<b1=128 x i32>
      %begin = tile.begin %j : !tile.range<b1=128>
      %start = tile.splat %begin : index to !tile.tile<b1=128 x i32>
      %at = tile.add %start, %low : !tile.tile<b1=128 x i32>
      %l = tile.broadcast %at dims [1] : !tile.tile<b1=128 x i32> to !tile.tile<b0=8 x b1=128 x i32>
      %r = tile.broadcast %rows dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=128 x i32>
      %block = tile.load %x[%i, %j] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>
      %v = tile.load %x[%r, %l] : memref<64x512xf32> -> !tile.tile<b0=8 x b1=128 x f32>"""
    found = one_launch(body, "(%i: b0=8, %j: b1=128) in (64, 512)", "out", x="64x512xf32", n="512xi32", out="64xf32")
    load = found["v"]
    assert isinstance(load, LoadOp)
    held = picked(load, found.launch)
    assert held is not None
    assert start_of(held, IndexAnalysis(sums=True)).divisor == 128
