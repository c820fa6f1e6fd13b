"""Which numbers a slice has, and which lanes stand at them: of every beginning, end and step."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt import parse
from kopt.dialects.builder import Builder
from kopt.dialects.tile import GridOp, StoreOp
from kopt.dialects.tile.index_list import AllAttr, SliceAttr
from kopt.interpreter import run
from kopt.passes.accumulators.spread import Spread, _in_slice
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


SLICES = [
    SliceAttr(start, stop, step)
    for start, stop, step in itertools.product(range(EXTENT), range(1, EXTENT + 1), (1, 2, 3, 6))
    if start < stop
]


def computed(element: str, made: Callable[[Builder, SSAValue], SSAValue]) -> list[int]:
    """A tile of all numbers, from what is made of them."""
    module = parse(TEXT.replace("xi1", f"x{element}"))
    end = only(module, GridOp).body.block.last_op
    assert end is not None
    found = made(Builder(InsertPoint.before(end), end), named(module)["n"])
    out = only(module, FuncOp).body.block.args[0]
    Rewriter.insert_op(StoreOp(found, out, [AllAttr()]), InsertPoint.before(end))
    array = np.zeros(EXTENT, bool if element == "i1" else np.int32)
    run(module, "f", [array])
    return array.tolist()


def test_numbers() -> None:
    for slice in SLICES:
        held = computed("i1", lambda build, numbers, slice=slice: _in_slice(build, numbers, slice, EXTENT))
        assert np.flatnonzero(held).tolist() == [*range(slice.start.data, slice.stop.data, slice.step.data)], slice


def test_lanes() -> None:
    """Those at the slice's numbers follow one another; `is_spare` says whether another number picks none of them."""
    for slice in SLICES:
        spread = Spread(slice, 0, EXTENT)
        lanes = computed("i32", lambda build, _, spread=spread: spread.sources(build))
        assert lanes[slice.start.data : slice.stop.data : slice.step.data] == [*range(slice.length)], slice
        assert spread.is_spare == (not {*lanes} <= {*range(slice.length)}), slice
