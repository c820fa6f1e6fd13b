"""Elements of a small matrix that products take: right, and each product within what may be compared at once."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.tile import TakeAlongOp, tile_type
from kopt.interpreter import run
from kopt.targets.budget import Budget
from kopt.walk import walk

CELLS = 8


def module(rows: int, columns: int, wide: int) -> str:
    """``wide`` elements for each row of a cell."""
    ids, x, out = f"memref<16x{wide}xi32>", f"memref<{rows}x{columns}xf32>", f"memref<16x{wide}xf32>"
    lanes = f"b0={CELLS} x {wide}"
    return f"""func.func @f(%r: {ids}, %c: {ids}, %x: {x}, %out: {out}) -> {out} {{
  %res = host.launch @f (%a = %r, %b = %c, %t = %x, %o = %out) writes [3] : ({ids}, {ids}, {x}, {out}) -> {out} {{
    tile.grid (%i: b0={CELLS}) in (16) plan {{order [i] parallel [i]
        @x = %t one_hot}} {{
      %n = tile.load %a[%i, :] : {ids} -> !tile.tile<{lanes} x i32>
      %m = tile.load %b[%i, :] : {ids} -> !tile.tile<{lanes} x i32>
      %v = tile.load %t[%n, %m] via @x : {x} -> !tile.tile<{lanes} x f32>
      tile.store %v, %o[%i, :] : !tile.tile<{lanes} x f32>, {out}
    }}
  }}
  func.return %res : {out}
}}"""


@pytest.mark.parametrize("wide", [4, 33])
@pytest.mark.parametrize(("rows", "columns"), [(7, 5), (30, 200), (4096, 8), (8, 4096), (5000, 3)])
def test_elements_in_parts(rows: int, columns: int, wide: int) -> None:
    draw = np.random.default_rng(rows)
    row, column = (draw.integers(0, extent, (16, wide)).astype(np.int32) for extent in (rows, columns))
    x = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    made = kopt.run_pipeline(kopt.parse(module(rows, columns, wide)), "realise-values,cse,dce")
    (got,) = run(made, "f", [row, column, x, np.zeros((16, wide), np.float32)])
    np.testing.assert_array_equal(got, x[row, column])
    numbers = [tile_type(op.indices).shape[0] for op in walk(made, TakeAlongOp) if op.dim.data == 0]
    most = Budget.PICKED_FROM // max(rows, columns)
    step = max(1, most // wide) * wide  # whole rows of the index
    assert numbers == [min(step, CELLS * wide - n) for n in range(0, CELLS * wide, step)]
