"""Single elements as entries of an index list: the range that has no other lane, or a number."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.dialects.builder import Builder
from kopt.dialects.tile import LoadOp, RangeType
from kopt.ir.sums import SumAnalysis
from kopt.passes.normalising.blocks import block_entry
from test.named import named, only

TEXT = """
func.func @f(%x: memref<64xf32>, %out: memref<64xf32>) {{
  tile.grid (%i: b0={size}) in (64) {{
    %b = tile.begin %i : !tile.range<b0={size}>
    %c3 = arith.constant 3 : index
    %further = arith.addi %b, %c3 : index
    %v = tile.load %x[%{at}] : memref<64xf32> -> !tile.tile<f32>
    tile.store %v, %out[%b] : !tile.tile<f32>, memref<64xf32>
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("size", "at", "is_range"), [(1, "b", True), (1, "further", False), (4, "b", False), (4, "further", False)]
)
def test_one_element(size: int, at: str, is_range: bool) -> None:
    module = parse(TEXT.format(size=size, at=at))
    load, sums = only(module, LoadOp), SumAnalysis()
    number = named(module)[at]
    found = block_entry(sums.expr(number), 1, None, load, Builder(load), sums)
    assert isinstance(found.type, RangeType) is is_range
    assert found is named(module)["i"] if is_range else sums.expr(found) == sums.expr(number)
