"""Which vectors' blocks are taken out of rows of 128 lanes that cells share."""

from __future__ import annotations

import pytest

from kopt.analysis.shared_rows import has_rows_of_its_own, shares_rows, sharing_dims
from kopt.analysis.windows import Window, unordered_windows
from kopt.dialects.tile import GridOp, LoadOp
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
    assert (
        shares_rows(*window_of(KERNEL.format(**{"array": values["extent"], "tile": f"b0={values['block']}", **values})))
        is shared
    )


@pytest.mark.parametrize(
    ("index", "dims"),
    [
        ("%i", {0, 1}),  # four cells along %i, and all along %j
        ("%of_core", {0}),  # each block of 128 along %j has a row of its own
        ("%of_cell", {0, 1}),
    ],
)
def test_dimensions_along_which_cells_share_rows(index: str, dims: set[int]) -> None:
    """Of two dimensions, the second one in blocks of 128 or of 64."""
    size = 64 if index == "%of_cell" else 128
    begin = (
        ""
        if index == "%i"
        else f"%b = tile.begin %j : !tile.range<b1={size}>  {index} = tile.shift %i by %b : !tile.range<b0=32>"
    )
    text = f"""
    func.func @f(%x: memref<1024xf32>) {{
      tile.grid (%i: b0=32, %j: b1={size}) in ({1024 if index == "%i" else size}, 1024) {{
        {begin}
        %t = tile.load %x[{index}] : memref<1024xf32> -> !tile.tile<b0=32 x f32>
      }}
      func.return
    }}
    """
    assert sharing_dims(*window_of(text)) == dims
    assert has_rows_of_its_own(*window_of(text)) is (index == "%of_core")


def window_of(text: str) -> tuple[Window, GridOp]:
    """The window of a kernel's only array, and its grid."""
    module = parse_module(text)
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    (window,) = unordered_windows(grid, [op.memory for op in grid.walk() if isinstance(op, LoadOp)]).values()
    return window, grid
