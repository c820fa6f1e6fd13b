"""Rows and elements by one loaded number: which are gathers of one place, and of arrays too far away."""

from __future__ import annotations

import pytest

from kopt.analysis.values.hbm_rows import is_computed, is_far, may_be_row
from kopt.dialects.tile import LoadOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.chips import TPU_CHIPS
from test.analysis.one_launch import OneLaunch, one_launch

V5E = TPU_CHIPS["v5e"]
FAR, NEAR = "131072x256xf32", "1024x128xf32"
NUMBER = """%at = tile.begin %i : !tile.range<b0=8>
      %s = tile.load %ids[%at] : memref<64xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index"""
LANE = """%many = tile.load %ids[0:8] : memref<64xi32> -> !tile.tile<8 x i32>
      %part = tile.slice %many [3] [1] [1] : !tile.tile<8 x i32> to !tile.tile<1 x i32>
      %s = tile.reshape %part : !tile.tile<1 x i32> to !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index"""


def row(array: str, at: str, dims: str, number: str = NUMBER, writes: str = "", loop: str = "{}") -> OneLaunch:
    load = f"%v = tile.load %x[{at}] : memref<{array}> -> !tile.tile<{dims}f32>"
    return one_launch(f"{number}\n{loop.format(load)}", writes=writes, x=array, ids="64xi32", out="64x256xf32")


def ask(found: OneLaunch) -> tuple[bool, bool]:
    load = found["v"]
    assert isinstance(load, LoadOp)
    analysis = IndexAnalysis()
    return may_be_row(load, found.launch, analysis), is_far(load, found.launch, V5E, analysis)


LOOP = "tile.for %k: b1={} in (0, 256) {{{{\n{{}}\n}}}}"


@pytest.mark.parametrize(
    ("array", "at", "dims", "wanted"),
    [
        (FAR, "%n, :", "256 x ", (True, True)),
        (NEAR, "%n, :", "128 x ", (True, False)),
        (FAR, "%n, 0:128", "128 x ", (False, False)),  # a part, at no range
        (FAR, "%at, :", "256 x ", (False, False)),  # the grid tells
        (FAR, "%i, :", "b0=8 x 256 x ", (False, False)),
        (FAR, "3, :", "256 x ", (False, False)),
        (FAR, "%n, %n", "", (True, True)),
        (FAR, "%n, 5", "", (True, True)),
        ("1024xf32", "%n", "", (True, False)),  # scalar memory holds it
        ("4096x128xf32", "%n, 5", "", (True, False)),  # VMEM does
    ],
)
def test_what_is_a_gather_of_one_place(array: str, at: str, dims: str, wanted: tuple[bool, bool]) -> None:
    assert ask(row(array, at, dims)) == wanted


def test_what_the_launch_writes_is_none() -> None:
    assert ask(row(FAR, "%n, :", "256 x ", writes="x")) == (False, False)


@pytest.mark.parametrize(("size", "far"), [(128, False), (256, False), (64, True)])
def test_in_a_loop_blocks_that_dmas_move_are_fetched_ahead(size: int, far: bool) -> None:
    found = row(FAR, "%n, %k", f"b1={size} x ", loop=LOOP.format(size))
    assert ask(found) == (True, far)


def test_whole_rows_in_a_loop_are_fetched_ahead_too() -> None:
    assert ask(row(FAR, "%n, :", "256 x ", loop=LOOP.format(128))) == (True, False)


@pytest.mark.parametrize(("array", "far"), [("1024x128xf32", True), ("512x128xf32", False), (FAR, True)])
def test_a_lane_of_a_tile_tells_no_window(array: str, far: bool) -> None:
    """Of an array of which a product would not take rows: more than 256 KiB."""
    assert ask(row(array, "%n, :", f"{array.split('x')[1]} x ", LANE)) == (True, far)


def test_what_is_computed_is_an_index_value() -> None:
    found = row(FAR, "%n, :", "256 x ")
    number, whole = found["v"].entries
    assert is_computed(number) and not is_computed(whole) and not is_computed(3)
    assert not is_computed(found.values["i"])
