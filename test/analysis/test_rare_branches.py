"""Which branches of a launch are about elements."""

from __future__ import annotations

import pytest

from kopt.analysis.rare_branches import is_rare
from kopt.dialects.tile import ELEMENTWISE, GridOp
from kopt.parsing import parse_module

TEXT = """func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    %m = tile.reduce max %v [0] : !tile.tile<b0=8 x f32>
    %n = tile.cast %m : !tile.tile<f32> to !tile.tile<i32>
    %loaded = tile.extract %n : !tile.tile<i32> to index
    %number = tile.id %i : !tile.range<b0=8>
    %two = arith.constant 2 : index
    %c = arith.cmpi slt, %{of}, %two : index
    scf.if %c {{
      tile.for %k: b1=1 in (0, 4) {{
        %e = tile.exp %v : !tile.tile<b0=8 x f32>
        tile.store %e, %y[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
      }}
    }}
    %f = tile.exp %v : !tile.tile<b0=8 x f32>
  }}
  func.return
}}"""


@pytest.mark.parametrize(("of", "rare"), [("loaded", True), ("number", False)])
def test_branches_on_elements_are_rare_whatever_stands_between(of: str, rare: bool) -> None:
    module = parse_module(TEXT.format(of=of))
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    inside, outside = [op for op in module.walk() if isinstance(op, ELEMENTWISE["exp"])]
    assert is_rare(inside, grid) is rare and not is_rare(outside, grid)
