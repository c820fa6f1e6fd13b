"""Blocks that loops of computed bounds update: which DMAs can move, and of which arrays they have to."""

from __future__ import annotations

import pytest

from kopt.analysis.values.hbm_updates import is_far, may_be_far
from kopt.dialects.tile import Access
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

V5E = TPU_CHIPS["v5e"]
FAR = "1048576x128xf32"
COMPUTED = "(0, %n)"
HEAD = """%at = tile.begin %i : !tile.range<b0=8>
      %s = tile.load %ids[%at] : memref<64xi32> -> !tile.tile<i32>
      %n = tile.extract %s : !tile.tile<i32> to index
      %mask = tile.full true : !tile.tile<8 x i1>"""


def updated(
    array: str = FAR, at: str = "%k, :", size: int = 8, bounds: str = COMPUTED, rest: str = "", more: str = ""
) -> tuple[OneLaunch, list[Access]]:
    element, lanes = array.split("x")[-1], array.split("x")[1]
    dims = f"b1={size} x {lanes}" if ":" in at else f"b1={size} x 128"
    type = f"!tile.tile<{dims} x {element}>"
    body = f"""{HEAD}
      tile.for %k: b1={size} in {bounds} {{
        %w = tile.full 1.0 : {type}
        atomic.rmw add %w, %x[{at}]{rest} : {type}, memref<{array}>
        {more}
      }}"""
    found = one_launch(body, writes="x", x=array, ids="64xi32")
    return found, [op for op in walk(found.launch, Access) if op.memory is found.values["x"]]


def ask(*args, **more) -> tuple[bool, bool]:
    found, accesses = updated(*args, **more)
    return may_be_far(accesses), is_far(accesses, found.launch, V5E)


def test_blocks_of_an_array_beyond_vmem() -> None:
    assert ask() == (True, True)


def test_an_array_that_fits_is_not_far() -> None:
    assert ask("1024x128xf32") == (True, False)


@pytest.mark.parametrize(
    "more",
    [
        {"bounds": "(0, 1048576)"},  # a window follows numbers that the loop counts
        {"bounds": "(%n, 1048576)"},  # blocks may begin anywhere
        {"size": 4},  # no whole tile
        {"array": "1048577x128xf32"},  # the last block hangs over
        {"array": "1048576x128xbf16"},
        {"at": "%k, 0:128"},
        {"more": "%old = tile.load %x[0, :] : memref<1048576x128xf32> -> !tile.tile<128 x f32>"},
    ],
)
def test_others_are_not_moved_by_dmas(more: dict) -> None:
    assert ask(**more) == (False, False)


def test_a_mask_keeps_a_block_from_being_moved() -> None:
    mask = "%m = tile.full true : !tile.tile<b1=8 x 128 x i1>"
    text = f"{mask}\natomic.rmw add %w, %x[%k, :] mask %m : !tile.tile<b1=8 x 128 x f32>, memref<{FAR}>"
    assert ask(more=text) == (False, False)


def test_no_access_is_none() -> None:
    assert not may_be_far([])
