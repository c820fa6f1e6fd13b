"""Between which numbers begins, ends and what is computed from them lie."""

import pytest

import kopt
from kopt.analysis.index_bounds import index_bounds

TEXT = """
func.func @f(%x: memref<1000xi32>) {
  tile.grid (%i: b0=128) in (1000) {
    %begin = tile.begin %i : !tile.range<b0=128>
    %end = tile.end %i : !tile.range<b0=128>
    %id = tile.id %i : !tile.range<b0=128>
    %length = arith.subi %end, %begin : index
    %two = arith.constant 2 : index
    %hundred = arith.constant 100 : index
    %twice = arith.muli %begin, %two : index
    %apart = arith.subi %twice, %end : index
    %near = arith.minsi %twice, %end : index
    %v = tile.load %x[%id] : memref<1000xi32> -> !tile.tile<i32>
    %loaded = tile.extract %v : !tile.tile<i32> to index
    %moved = arith.addi %begin, %loaded : index
    %quotient = arith.floordivsi %id, %two : index
    %whole = arith.muli %quotient, %two : index
    %rest = arith.subi %id, %whole : index
    %remainder = arith.remsi %begin, %two : index
    %unsigned = arith.maxsi %moved, %two : index
    %clamped = arith.minsi %unsigned, %hundred : index
  }
  func.return
}
"""
BOUNDS = {
    "begin": (0, 896),
    "end": (0, 1000),
    "id": (0, 7),
    "length": (0, 128),
    "two": (2, 2),
    "twice": (0, 1792),
    "apart": (-1000, 1792),
    "near": (0, 1000),
    "moved": None,
    "quotient": (0, 3),
    "rest": (0, 1),
    "remainder": (0, 1),
    "unsigned": None,
    "clamped": (2, 100),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(name):
    values = [value for op in kopt.parse(TEXT).walk() for value in op.results if value.name_hint == name]
    assert index_bounds(values[0]) == BOUNDS[name]
