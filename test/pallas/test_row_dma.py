"""Rows that are sent together: of those that name one row the last one stays, in whatever order they arrive."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine

TEXT = """
func.func @f(%a: memref<48xi32>, %b: memref<48x128xf32>, %c: memref<7x128xf32>) -> memref<7x128xf32> {
  %r = host.launch @f (%n = %a, %v = %b, %out = %c) writes [2] : (memref<48xi32>, memref<48x128xf32>, \
memref<7x128xf32>) -> memref<7x128xf32> {
    tile.grid (%i: b0=48) in (48) plan {order [i] @out = %out row_dma} {
      %rows = tile.load %n[%i] : memref<48xi32> -> !tile.tile<b0=48 x i32>
      %x = tile.load %v[%i, :] : memref<48x128xf32> -> !tile.tile<b0=48 x 128 x f32>
      tile.store %x, %out[%rows, :] via @out : !tile.tile<b0=48 x 128 x f32>, memref<7x128xf32>
    }
  }
  func.return %r : memref<7x128xf32>
}
"""


@pytest.mark.parametrize("order", range(4))
def test_the_last_row_stays(order: int) -> None:
    module = kopt.run_pipeline(kopt.parse(TEXT), "realise-values")
    assert "last_rows" in str(module)
    random = np.random.default_rng(order)
    rows, values = random.integers(0, 6, 48).astype(np.int32), random.standard_normal((48, 128)).astype(np.float32)
    machine = Machine(module, HANDLERS, seed=0, check_conflicts=True, masked=False)
    machine.order = np.random.default_rng(order)
    (found,) = machine.call(machine.functions["f"], [rows, values, np.full((7, 128), 9, np.float32)])
    wanted = np.full((7, 128), 9, np.float32)
    for row, value in zip(rows, values, strict=True):
        wanted[row] = value
    np.testing.assert_array_equal(found, wanted)
