"""`most_visits`: a number of blocks that no visit exceeds, where the algebra of the bounds gives one; `cells`."""

from __future__ import annotations

import pytest

import kopt
from kopt.dialects.tile import ForOp, GridOp
from kopt.ir.trip_counts import cells, most_visits
from test.named import only

TEXT = """
func.func @f(%x: memref<100xf32>, %m: index) {{
  tile.grid (%n: g0=1) in (5) {{
    %b = tile.begin %n : !tile.range<g0=1>
    %twelve = arith.constant 12 : index
    %fifty = arith.constant 50 : index
    %lo = arith.muli %b, %twelve : index
    %next = arith.addi %lo, %twelve : index
    %hi = arith.minsi %next, %fifty : index
    tile.for %k: b0={size} in ({bounds}) {{
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("bounds", "size", "most"),
    [
        ("0, 50", 12, 5),
        ("50, 0", 12, 0),
        ("%lo, %next", 12, 1),
        ("%lo, %hi", 12, 1),  # the last block ends where the array does
        ("%lo, %hi", 8, 2),
        ("%lo, %fifty", 12, 5),
        ("0, %hi", 16, 4),
        ("%hi, %lo", 16, 0),
        ("%lo, %m", 16, None),
    ],
)
def test_the_most_blocks_of_a_range(bounds: str, size: int, most: int | None) -> None:
    module = kopt.parse(TEXT.format(bounds=bounds, size=size))
    assert most_visits(only(module, ForOp).range) == most


@pytest.mark.parametrize(
    ("ranges", "extents", "count"),
    [("%i: b0=32", "100", 4), ("%i: b0=32, %j: b1=8", "100, 16", 8), ("%i: b0=32, %j: b1=8", "100, ?", None)],
)
def test_the_cells_of_a_grid(ranges: str, extents: str, count: int | None) -> None:
    array = f"memref<{'x'.join(extents.split(', '))}xf32>"
    bounds = extents.replace("?", "%n")
    text = f"""
        func.func @f(%x: {array}, %n: index) {{
          tile.grid ({ranges}) in ({bounds}) {{
          }}
          func.return
        }}
    """
    assert cells(only(kopt.parse(text), GridOp)) == count
