"""Slots of values that two paths leave behind: what goes from one to the other in which type."""

from __future__ import annotations

from typing import Any

import pytest

import kopt
from kopt.dialects.tile import TileType
from kopt.errors import UnsupportedError
from kopt.frontend.merging import Slot, join, slot_of
from kopt.frontend.values import INDEX, DeviceTensor, Undefined
from test.named import named

VALUES = named(
    kopt.parse("""
func.func @f(%n: index) {
  tile.grid (%i: b0=8, %j: b1=4) in (9, 9) {
    %block = tile.full 3.0 : !tile.tile<b0=8 x f32>
    %other = tile.full 3.0 : !tile.tile<8 x f32>
    %lane = tile.full 3.0 : !tile.tile<f32>
    %wide = tile.full 3.0 : !tile.tile<b0=8 x 2 x f32>
    %whole = tile.full 3 : !tile.tile<b0=8 x i32>
  }
  func.return
}""")
)
BLOCK, OTHER, LANE, WIDE, WHOLE = (DeviceTensor(VALUES[n]) for n in ("block", "other", "lane", "wide", "whole"))
NONE = "a name that one arm does not assign"
OF_BLOCK, PLAIN = (Slot(TileType([dim], BLOCK.tile_type.element_type)) for dim in (("b0", 8), 8))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        (BLOCK, BLOCK, OF_BLOCK),
        (BLOCK, NONE, OF_BLOCK),
        (3, NONE, Slot(INDEX)),
        (3, 4, Slot(INDEX)),
        (BLOCK, OTHER, PLAIN),
        (3, 3, None),
        (2.5, 2.5, None),
        (float("nan"), float("nan"), None),
        ("fast", "fast", None),
        ([1, 2], [1, 2], None),
    ],
)
def test_slots(a: Any, b: Any, wanted: Slot | None) -> None:
    """The same from both sides."""
    b = Undefined("v", b) if b is NONE else b
    assert join("v", a, b) == join("v", b, a) == wanted


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ("fast", "slow", "'v' is str 'fast' on one path and str 'slow' on the other"),
        ("fast", BLOCK, "'v' is str 'fast' on one path and a device tensor"),
        (BLOCK, WHOLE, "'v' changes its dtype from torch.float32 to torch.int32"),
        (BLOCK, WIDE, "'v' changes its shape from "),
    ],
)
def test_what_cannot_be_one_value(a: Any, b: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as error:
        join("v", a, b)
    assert error.value.id == "paths-differ"


def test_values_of_the_host_have_no_slot() -> None:
    assert slot_of(BLOCK) == OF_BLOCK and slot_of(3) is None and slot_of("fast") is None
