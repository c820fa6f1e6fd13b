"""Masks make kernels right: what a pass inserts is run, with poison in every lane that the kernel must not use."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import LoadOp, MaskOp, StoreOp
from kopt.interpreter import run
from kopt.walk import walk

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


#: Lanes of merged ragged rows go to places that are merged rows too; each value says where it belongs.
PLACED = """
func.func @f(%x: memref<13x6xf32>, %p: memref<13x6xi32>, %y: memref<80xf32>) {
  tile.grid (%i: b0=4) in (13) {
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
    %n = tile.load %p[%i, :] : memref<13x6xi32> -> !tile.tile<b0=4 x 6 x i32>
    %at = tile.reshape %n : !tile.tile<b0=4 x 6 x i32> to !tile.tile<24 x i32>
    WRITE
  }
  func.return
}
"""
WRITES = {
    "store": "tile.store %f, %y[%at] : !tile.tile<24 x f32>, memref<80xf32>",
    "update": "atomic.rmw add %f, %y[%at] : !tile.tile<24 x f32>, memref<80xf32>",
}


@pytest.mark.parametrize("write", WRITES)
def test_only_lanes_that_are_there_are_written(write: str) -> None:
    x = np.arange(78, dtype=np.float32).reshape(13, 6)
    places = np.random.default_rng(0).permutation(78).astype(np.int32)
    y = np.full(80, -1 if write == "store" else 0, np.float32)
    module = kopt.run_pipeline(kopt.parse(PLACED.replace("WRITE", WRITES[write])), "insert-masks")
    (written,) = walk(module, StoreOp, RmwOp)
    assert written.mask is not None  # lanes of the merged block carry no tag that would tell the targets
    run(module, "f", [x, places.reshape(13, 6), y], masked=True)
    np.testing.assert_array_equal(y[places], x.ravel())
    assert (y[78:] == (-1 if write == "store" else 0)).all()


#: Of each column, the lanes that a load's own mask leaves out and those beyond the end count for different numbers.
OTHERS = """
func.func @f(%x: memref<6x13xf32>, %y: memref<6xf32>) {
  tile.grid (%i: b0=2) in (6) {
    %k = tile.whole 13 : !tile.range<k=16>
    %n = tile.index %k : !tile.range<k=16>
    %ten = tile.full 10 : !tile.tile<k=16 x i32>
    %few = tile.lt %n, %ten : !tile.tile<k=16 x i32>
    %mask = tile.broadcast %few dims [1] : !tile.tile<k=16 x i1> to !tile.tile<b0=2 x k=16 x i1>
    %v = tile.load %x[%i, %k] mask %mask OTHER : memref<6x13xf32> -> !tile.tile<b0=2 x k=16 x f32>
    %s = tile.reduce KIND %v [1] : !tile.tile<b0=2 x k=16 x f32>
    tile.store %s, %y[%i] : !tile.tile<b0=2 x f32>, memref<6xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("fold", ["true", "false"])
@pytest.mark.parametrize(("other", "number"), [("", 0.0), ("other 5.0", 5.0), ("other 1.0", 1.0)])
@pytest.mark.parametrize(("kind", "combine"), [("add", np.sum), ("max", np.max), ("mul", np.prod)])
def test_lanes_that_a_mask_leaves_out_count_as_its_number(kind, combine, other, number, fold) -> None:
    x = -np.random.default_rng(0).integers(1, 4, (6, 13)).astype(np.float32)  # of which no sum or product rounds
    text = OTHERS.replace("OTHER", other).replace("KIND", kind)
    module = kopt.run_pipeline(kopt.parse(text), f"insert-masks{{fold-loads={fold}}}")
    y = np.full(6, np.nan, np.float32)
    run(module, "f", [x, y], masked=True)
    wanted = combine(np.where(np.arange(13) < 10, x, np.float32(number)), axis=1)
    np.testing.assert_array_equal(y, wanted)


@pytest.mark.parametrize(
    ("kind", "other", "folds"),
    [
        ("add", "", True),
        ("add", "other 0.0", True),
        ("add", "other 5.0", False),
        ("mul", "", False),
        ("mul", "other 1.0", True),
        ("max", "other 0.0", False),
    ],
)
def test_a_load_has_one_number_for_all_lanes_that_it_does_not_read(kind: str, other: str, folds: bool) -> None:
    """A mask becomes a load's ``pad`` where that is what the load's own mask gives."""
    text = OTHERS.replace("OTHER", other).replace("KIND", kind)
    module = kopt.run_pipeline(kopt.parse(text), "insert-masks{fold-loads=true}")
    (load,) = walk(module, LoadOp)
    assert (load.pad is not None, len(walk(module, MaskOp))) == (folds, 0 if folds else 1)
