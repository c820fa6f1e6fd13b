"""Which numbers a slice has: of every beginning, end and step."""

from __future__ import annotations

import itertools

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.rewriter import InsertPoint, Rewriter

from kopt import parse
from kopt.dialects.builder import Builder
from kopt.dialects.tile import GridOp, StoreOp
from kopt.dialects.tile.index_list import AllAttr, SliceAttr
from kopt.interpreter import run
from kopt.passes.accumulators.spread import _in_slice
from test.named import named, only

EXTENT = 7
TEXT = f"""
func.func @f(%out: memref<{EXTENT}xi1>) {{
  tile.grid (%i: b0=4) in (4) {{
    %n = tile.arange 0, 1 : !tile.tile<{EXTENT} x i32>
  }}
  func.return
}}
"""


def held(slice: SliceAttr) -> list[int]:
    module = parse(TEXT)
    end = only(module, GridOp).body.block.last_op
    assert end is not None
    found = _in_slice(Builder(InsertPoint.before(end), end), named(module)["n"], slice, EXTENT)
    out = only(module, FuncOp).body.block.args[0]
    Rewriter.insert_op(StoreOp(found, out, [AllAttr()]), InsertPoint.before(end))
    array = np.zeros(EXTENT, bool)
    run(module, "f", [array])
    return np.flatnonzero(array).tolist()


def test_every_slice() -> None:
    for start, stop, step in itertools.product(range(EXTENT), range(1, EXTENT + 1), (1, 2, 3, 6)):
        if start < stop:
            assert held(SliceAttr(start, stop, step)) == [*range(start, stop, step)], (start, stop, step)
