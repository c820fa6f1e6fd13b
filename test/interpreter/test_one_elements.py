"""The one element that broadcast indices name: inside the array, whatever the number, computed or known."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.builder import Builder
from kopt.dialects.tile import LoadOp
from kopt.interpreter import run
from kopt.ir.index_expr import number
from kopt.ir.sums import SumAnalysis
from kopt.passes.normalising.broadcast_indices import element
from test.named import named

TEXT = """
func.func @f(%x: memref<5xi32>, %at: memref<1xi32>, %y: memref<1xi32>) {
  tile.grid (%i: b0=1) in (1) {
    %n = tile.load %at[0] : memref<1xi32> -> !tile.tile<i32>
    %e = tile.extract %n : !tile.tile<i32> to index
    %v = tile.load %x[%e] : memref<5xi32> -> !tile.tile<i32>
    tile.store %v, %y[0] : !tile.tile<i32>, memref<1xi32>
  }
  func.return
}"""


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("at", [-3, -1, 0, 2, 4, 5, 9])
def test_it_is_the_nearest_that_there_is(at: int, known: bool) -> None:
    module, sums = kopt.parse(TEXT), SumAnalysis()
    load = named(module)["v"].owner
    assert isinstance(load, LoadOp)
    place = element(number(at) if known else sums.expr(named(module)["e"]), 5, Builder(load), sums)
    new = LoadOp(load.memory, [place])
    Builder(load).insert(new)
    load.result.replace_all_uses_with(new.result)
    load.detach()
    module.verify()
    y = np.zeros(1, np.int32)
    run(module, "f", [np.arange(5, dtype=np.int32) * 3, np.array([at], np.int32), y])
    assert y[0] == 3 * min(max(at, 0), 4)
