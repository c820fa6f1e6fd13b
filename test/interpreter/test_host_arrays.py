"""Arrays that the host computes of a call's arguments, before any kernel runs."""

from __future__ import annotations

import numpy as np

from kopt import parse
from kopt.interpreter.host_arrays import HostArrays

TEXT = """
func.func @other(%x: memref<4xi32>) {
  func.return
}
func.func @f(%lengths: memref<4xi32>, %out: memref<4xi64>) {
  %ends = host.call "aten.cumsum.default"(%lengths) args [unit, 0] : (memref<4xi32>) -> (memref<4xi64>)
  tile.grid (%i: b0=4) in (4) {
    %v = tile.load %ends[%i] : memref<4xi64> -> !tile.tile<b0=4 x i64>
    tile.store %v, %out[%i] : !tile.tile<b0=4 x i64>, memref<4xi64>
  }
  %sums = host.call "aten.cumsum.default"(%out) args [unit, 0] : (memref<4xi64>) -> (memref<4xi64>)
  func.return
}
"""
LENGTHS = np.array([3, 0, 5, 1], np.int32)


def test_arguments_and_what_is_computed_of_them() -> None:
    """What a kernel writes is not known, nor what is computed of that."""
    arrays = HostArrays(parse(TEXT), "f")
    found = [arrays.value(number, lambda argument: LENGTHS if argument == 0 else None) for number in range(4)]
    lengths, out, ends, sums = found
    assert lengths is LENGTHS and out is None and sums is None
    assert ends is not None and ends.tolist() == [3, 3, 8, 9]
