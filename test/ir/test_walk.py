"""`kopt.walk`: the operations of a region, in the order of the text."""

from __future__ import annotations

import kopt
from kopt.dialects.tile import ForOp, GridOp, LoadOp, StoreOp
from kopt.walk import walk

MODULE = """
func.func @f(%x: memref<64x64xf32>, %o: memref<64xf32>) {
  tile.grid (%i: b0=32) in (64) {
    %z = tile.full 0.0 : !tile.tile<b0=32 x f32>
    %r = tile.for %j: b1=32 in (0, 64) iter(%a = %z) -> (!tile.tile<b0=32 x f32>) {
      %l = tile.load %x[%i, %j] : memref<64x64xf32> -> !tile.tile<b0=32 x b1=32 x f32>
      %s = tile.reduce add %l [1] : !tile.tile<b0=32 x b1=32 x f32>
      tile.yield %s : !tile.tile<b0=32 x f32>
    }
    tile.store %r, %o[%i] : !tile.tile<b0=32 x f32>, memref<64xf32>
  }
  func.return
}
"""


def test_all_in_the_order_of_the_text():
    module = kopt.parse(MODULE)
    assert walk(module) == list(module.walk())
    assert walk(module.body) == list(module.body.walk())
    assert walk(module.body.block) == list(module.body.block.walk())


def test_of_some_kinds():
    module = kopt.parse(MODULE)
    (grid,) = walk(module, GridOp)
    assert [op.name for op in walk(grid, LoadOp, StoreOp)] == ["tile.load", "tile.store"]
    (loop,) = walk(grid, ForOp)
    assert walk(loop, ForOp) == [loop] and walk(loop.body, ForOp) == [] and walk(loop, StoreOp) == []


def test_what_is_found_may_be_erased():
    module = kopt.parse(MODULE)
    for op in walk(module, StoreOp):
        op.detach()
        op.erase()
    assert walk(module, StoreOp) == []
