"""Numbers of items that arrive a chunk at a time are those that the launch reads."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.context import make_context
from kopt.dialects.host import LaunchOp
from kopt.interpreter import run as interpret
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.passes import chunk_scalars
from test.named import only

TEXT = """
func.func @f(%offsets: memref<31xi32>) -> memref<{cells}xi32> {{
  %new = host.launch @f (%o = %offsets) writes [] yields (%out : memref<{cells}xi32>) : (memref<31xi32>) -> \
memref<{cells}xi32> {{
    tile.grid (%i: b0=1) in ({cells}) {{
      %at = tile.begin %i : !tile.range<b0=1>
      %by = arith.constant {by} : index
      %next = arith.addi %at, %by : index
      %a = tile.load %o[%at] : memref<31xi32> -> !tile.tile<i32>
      %b = tile.load %o[%next] : memref<31xi32> -> !tile.tile<i32>
      %n = tile.sub %b, %a : !tile.tile<i32>
      tile.store %n, %out[%at] : !tile.tile<i32>, memref<{cells}xi32>
    }}
  }}
  func.return %new : memref<{cells}xi32>
}}
"""


@pytest.mark.parametrize(("cells", "by"), [(30, 1), (24, 1), (16, 3), (20, 11), (5, 2)])
def test_each_cell_reads_its_own_element(cells: int, by: int, monkeypatch) -> None:
    """In chunks of 8 of an array that is taken for a long one."""
    monkeypatch.setattr(chunk_scalars, "CHUNK", 8)
    monkeypatch.setattr(chunk_scalars, "_is_long", lambda memory: True)
    module = parse_module(TEXT.format(cells=cells, by=by))
    run(module, make_context(), parse_pipeline("chunk-scalars,canonicalize,cse,dce"))
    offsets = np.random.default_rng(cells).integers(0, 1000, 31).astype(np.int32)
    (found,) = interpret(module, "f", [offsets])
    assert np.array_equal(found, offsets[by : by + cells] - offsets[:cells])
    shapes = [arg.type.get_shape() for arg in only(module, LaunchOp).body.block.args]
    assert [shape for shape in shapes if len(shape) == 2] == [(-(-cells // 8), 8)] * 2
