"""Which ranges walk flattened arrays, and the least blocks of whole rows of these."""

from __future__ import annotations

from math import prod

import pytest

from kopt import parse
from kopt.analysis.flattened import flattened_rows
from kopt.dialects.tile import GridOp
from kopt.walk import walk
from test.analysis.launches import prepared

KERNEL = """
func.func @f(%x: memref<{shape}x{element}>) -> memref<{shape}x{element}> {{
  %out = host.alloc : memref<{shape}x{element}>
  %f = host.reshape %x : memref<{shape}x{element}> to memref<{count}x{element}>
  %g = host.reshape %out : memref<{shape}x{element}> to memref<{count}x{element}>
  tile.grid (%i: b0=128) in ({count}) {{
    %v = tile.load %f[%i] : memref<{count}x{element}> -> !tile.tile<b0=128 x {element}>
    {more}
    tile.store %v, %g[%i] : !tile.tile<b0=128 x {element}>, memref<{count}x{element}>
  }}
  func.return %out : memref<{shape}x{element}>
}}
"""


@pytest.mark.parametrize("passes", [[], ["functionalise-host"], ["functionalise-host", "eliminate-output-only"]])
@pytest.mark.parametrize(
    ("shape", "element", "more", "length", "least"),
    [
        ("64x256", "f32", "", 256, 2048),
        ("64x256", "bf16", "", 256, 2048),
        ("64x256", "i8", "", 256, 8192),
        ("4x256", "f32", "", 256, 1024),  # all rows
        ("2x32x128", "f32", "", 128, 1024),
        ("64x127", "f32", "", None, None),  # shorter than a vector register
        ("16384", "f32", "", None, None),  # a vector
        ("64x256", "f32", "%n = tile.begin %i : !tile.range<b0=128>", None, None),
        ("64x256", "f32", "%w = tile.load %f[0:128] : memref<16384xf32> -> !tile.tile<128 x f32>", None, None),
        ("64x256", "f32", "%w = tile.scan add %v dim 0 : !tile.tile<b0=128 x f32>", None, None),
    ],
)
def test_rows(shape, element, more, length, least, passes) -> None:
    count = prod(map(int, shape.split("x")))
    module = prepared(parse(KERNEL.format(shape=shape, element=element, count=count, more=more)), passes)
    (grid,) = walk(module, GridOp)
    assert (flattened_rows(grid.ranges[0]) or (None, None)) == (length, least)
