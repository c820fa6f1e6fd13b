"""What lanes hold that are less the maximum of their row, where they are outside of the row and where the row is."""

from __future__ import annotations

import math

import pytest

from kopt import parse
from kopt.analysis.padding import padding
from test.named import named

BLOCK = "!tile.tile<b0=8 x b1=32 x f32>"


@pytest.mark.parametrize(
    ("kind", "of", "pad", "of_rows", "of_lanes"),
    [
        ("max", "v", "-inf", None, -math.inf),
        ("max", "v", "0.0", None, None),
        ("min", "v", "-inf", None, None),
        ("max", "w", "-inf", None, None),
    ],
)
def test_lanes_less_the_maximum_of_their_row(kind: str, of: str, pad: str, of_rows, of_lanes) -> None:
    """A row that is missing as a whole has no maximum but minus infinity."""
    module = parse(f"""
    func.func @f(%x: memref<60x100xf32>, %y: memref<60x100xf32>) {{
      tile.grid (%i: b0=8, %j: b1=32) in (60, 100) {{
        %v = tile.load %x[%i, %j] pad {pad} : memref<60x100xf32> -> {BLOCK}
        %w = tile.load %y[%i, %j] pad {pad} : memref<60x100xf32> -> {BLOCK}
        %m = tile.reduce {kind} %{of} [1] : {BLOCK}
        %b = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to {BLOCK}
        %d = tile.sub %v, %b : {BLOCK}
      }}
      func.return
    }}""")
    value = named(module)["d"]
    assert (padding(value, "b0"), padding(value, "b1")) == (of_rows, of_lanes)
