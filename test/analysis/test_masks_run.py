"""Masks make kernels right: what a pass inserts is run, with poison in every lane that the kernel must not use."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import run

SUMS = """
func.func @sums(%x: memref<37x50xf32>) -> (memref<37xf32>, memref<37xf32>, memref<50xf32>) {
  %rows = host.alloc : memref<37xf32>
  %tops = host.alloc : memref<37xf32>
  %cols = host.alloc : memref<50xf32>
  tile.grid (%i: b0=16) in (37) {
    %z = tile.full 0.0 : !tile.tile<b0=16 x f32>
    %ninf = tile.full -inf : !tile.tile<b0=16 x f32>
    %s, %t = tile.for %k: b1=32 in (0, 50) iter(%a = %z, %b = %ninf)
        -> (!tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>) {
      %v = tile.load %x[%i, %k] : memref<37x50xf32> -> !tile.tile<b0=16 x b1=32 x f32>
      %p = tile.reduce add %v [1] : !tile.tile<b0=16 x b1=32 x f32>
      %m = tile.reduce max %v [1] : !tile.tile<b0=16 x b1=32 x f32>
      %an = tile.add %a, %p : !tile.tile<b0=16 x f32>
      %bn = tile.maximum %b, %m : !tile.tile<b0=16 x f32>
      tile.yield %an, %bn : !tile.tile<b0=16 x f32>, !tile.tile<b0=16 x f32>
    }
    tile.store %s, %rows[%i] : !tile.tile<b0=16 x f32>, memref<37xf32>
    tile.store %t, %tops[%i] : !tile.tile<b0=16 x f32>, memref<37xf32>
  }
  tile.grid (%j: b2=16) in (50) {
    %v = tile.load %x[:, %j] : memref<37x50xf32> -> !tile.tile<37 x b2=16 x f32>
    %f = tile.reshape %v : !tile.tile<37 x b2=16 x f32> to !tile.tile<592 x f32>
    %w = tile.reshape %f : !tile.tile<592 x f32> to !tile.tile<37 x 16 x f32>
    %c = tile.reduce add %v [0] : !tile.tile<37 x b2=16 x f32>
    tile.store %c, %cols[%j] : !tile.tile<b2=16 x f32>, memref<50xf32>
  }
  func.return %rows, %tops, %cols : memref<37xf32>, memref<37xf32>, memref<50xf32>
}
"""

PIPELINES = [
    "canonicalize",
    "insert-masks",
    "insert-masks{fold-loads=true}",
    "canonicalize,cse,dce,return-mutated-arguments,functionalise-host,insert-masks,canonicalize,cse",
    'set-blocks{sizes="b0=8 b1=24"},insert-masks',
    'set-blocks{sizes="b0=64 b1=64"},functionalise-host,insert-masks',
]


@pytest.mark.parametrize("passes", PIPELINES)
def test_same_results_after_every_pipeline(passes: str) -> None:
    x = np.random.default_rng(0).standard_normal((37, 50)).astype(np.float32)
    module = kopt.run_pipeline(kopt.parse(SUMS), f"builtin.module({passes})")
    rows, tops, cols = run(module, "sums", [x.copy()])
    np.testing.assert_allclose(rows, x.sum(1), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(tops, x.max(1))
    np.testing.assert_allclose(cols, x.sum(0), rtol=1e-5, atol=1e-5)
