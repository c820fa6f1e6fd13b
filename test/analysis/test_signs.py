"""Which numbers are surely not negative."""

import pytest

import kopt
from kopt.analysis.signs import never_negative

TEXT = """
func.func @f(%x: memref<1000xi32>) {
  tile.grid (%i: b0=128) in (1000) {
    %begin = tile.begin %i : !tile.range<b0=128>
    %one = arith.constant 1 : index
    %before = arith.subi %begin, %one : index
    %clipped = arith.maxsi %before, %one : index
    %quotient = arith.floordivsi %clipped, %one : index
    %below = arith.floordivsi %before, %one : index
    %v = tile.load %x[%begin] : memref<1000xi32> -> !tile.tile<i32>
    %loaded = tile.extract %v : !tile.tile<i32> to index
    %sum = arith.addi %begin, %loaded : index
    tile.for %k: b1=8 in (%begin, 1000) {
      %inner = tile.begin %k : !tile.range<b1=8>
      tile.for %l: b2=8 in (%loaded, 1000) {
        %unknown = tile.begin %l : !tile.range<b2=8>
      }
    }
  }
  func.return
}
"""
SIGNS = {
    "begin": True,
    "one": True,
    "before": False,
    "clipped": True,
    "quotient": True,
    "below": False,
    "loaded": False,
    "sum": False,
    "inner": True,
    "unknown": False,
}


@pytest.mark.parametrize("name", SIGNS)
def test_signs(name):
    values = [value for op in kopt.parse(TEXT).walk() for value in op.results if value.name_hint == name]
    assert never_negative(values[0]) == SIGNS[name]
