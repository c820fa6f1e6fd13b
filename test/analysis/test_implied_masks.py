"""Of two masks with one fill, the one that implies the other is enough."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.implied_masks import implied_choice
from kopt.dialects.tile import SelectOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.walk import walk

TEXT = """
func.func @f(%x: memref<32xf32>, %out: memref<32xf32>) {{
  tile.grid (%i: b0=32) in (32) {{
    %v = tile.load %x[%i] : memref<32xf32> -> !tile.tile<b0=32 x f32>
    %n = tile.index %i : !tile.range<b0=32>
    %a = tile.full {first} : !tile.tile<b0=32 x i32>
    %b = tile.full {second} : !tile.tile<b0=32 x i32>
    %before = tile.ge %n, %a : !tile.tile<b0=32 x i32>
    %here = tile.ge %n, %b : !tile.tile<b0=32 x i32>
    %fill = tile.full 0.0 : !tile.tile<b0=32 x f32>
    %other = tile.full {other} : !tile.tile<b0=32 x f32>
    %inner = tile.select %before, %v, %fill : !tile.tile<b0=32 x f32>
    %outer = tile.select %here, %inner, %other : !tile.tile<b0=32 x f32>
    tile.store %outer, %out[%i] : !tile.tile<b0=32 x f32>, memref<32xf32>
  }}
  func.return
}}
"""


FILLS = """
func.func @f(%c: i1, %x: !tile.tile<4 x f32>, %y: !tile.tile<4 x f32>, %z: !tile.tile<4 x f32>) {{
  %m = tile.full true : !tile.tile<4 x i1>
  %zero = tile.full 0.0 : !tile.tile<4 x f32>
  %inner = tile.select %m, %x, %{inner} : !tile.tile<4 x f32>
  %outer = tile.select %m, %inner, %{outer} : !tile.tile<4 x f32>
  func.return
}}
"""


@pytest.mark.parametrize(
    ("inner", "outer", "same"),
    [("y", "y", True), ("y", "z", False), ("y", "zero", False), ("zero", "y", False), ("zero", "zero", True)],
)
def test_fills_that_are_one_value_or_constant(inner: str, outer: str, same: bool) -> None:
    _, select = walk(kopt.parse(FILLS.format(inner=inner, outer=outer)), SelectOp)
    assert (implied_choice(select, IndexAnalysis()) is not None) is same


@pytest.mark.parametrize(
    ("first", "second", "other", "expected"),
    [(9, 5, "0.0", "before"), (5, 9, "0.0", "here"), (9, 5, "1.0", None), (9, 5, "-0.0", None)],
)
def test_one_of_two_masks_is_enough(first: int, second: int, other: str, expected: str | None) -> None:
    module = kopt.parse(TEXT.format(first=first, second=second, other=other))
    inner, outer = walk(module, SelectOp)
    found = implied_choice(outer, IndexAnalysis())
    assert implied_choice(inner, IndexAnalysis()) is None
    assert (None if found is None else (found[0].name_hint, found[1].name_hint)) == (expected and (expected, "v"))
