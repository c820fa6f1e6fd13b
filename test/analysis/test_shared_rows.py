"""Which vectors' blocks are taken out of rows of 128 lanes that cells share."""

from __future__ import annotations

import pytest

from kopt.analysis.shared_rows import shares_rows
from kopt.analysis.windows import unordered_windows
from kopt.dialects.tile import GridOp
from kopt.parsing import parse_module

KERNEL = """
func.func @f(%x: memref<{array}x{dtype}>) {{
  tile.grid (%i: b0={block}, %j: b1=8) in ({extent}, {columns}) {{
    %t = tile.load %x[{index}] : memref<{array}x{dtype}> -> !tile.tile<{tile} x {dtype}>
  }}
  func.return
}}
"""
DEFAULTS = {"dtype": "f32", "block": 32, "extent": 1024, "columns": 8, "index": "%i"}


@pytest.mark.parametrize(
    ("changed", "shared"),
    [
        ({}, True),
        ({"dtype": "i32"}, True),
        ({"block": 1, "extent": 128}, False),  # 128 cells
        ({"block": 2, "extent": 128}, True),  # 64
        ({"block": 64, "extent": 2048, "columns": 16}, True),  # 64 cells, in two dimensions
        ({"block": 64, "extent": 2048, "columns": 24}, False),
        ({"dtype": "bf16"}, False),
        ({"block": 128}, False),  # a row each
        ({"block": 48, "extent": 384}, False),  # some blocks are in two rows
        ({"extent": 1000}, False),  # the last row would be padded
        ({"array": "1024x128", "index": "%i, :", "tile": "b0=32 x 128"}, False),  # rows are not lanes
        ({"array": "1024", "index": ":", "tile": "1024"}, False),
    ],
)
def test_vectors(changed: dict[str, object], shared: bool) -> None:
    values = {**DEFAULTS, **changed}
    values = {"array": values["extent"], "tile": f"b0={values['block']}", **values}
    module = parse_module(KERNEL.format(**values))
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    (window,) = unordered_windows(grid, [load.operands[0] for load in grid.walk() if load.name == "tile.load"]).values()
    assert shares_rows(window, grid) is shared
