"""What lanes hold that are less the maximum of their row, where they are outside of the row and where the row is."""

from __future__ import annotations

import math

import pytest

from kopt import parse
from kopt.analysis.padding import Inexact, padding
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


GRID = f"""
func.func @f(%x: memref<60x100xf32>, %y: memref<60x4xf32>) {{{{
  tile.grid (%i: b0=8, %j: b1=32) in (60, 100) {{{{
    %v = tile.load %x[%i, %j] pad 3.0 : memref<60x100xf32> -> {BLOCK}
    %u = tile.load %x[%i, %j] : memref<60x100xf32> -> {BLOCK}
    %c = tile.full 2.0 : {BLOCK}
    %s = tile.load %y[%i, :] pad 3.0 : memref<60x4xf32> -> !tile.tile<b0=8 x 4 x f32>
    %e = tile.mask %u in (%i, _) else 1.0 : {BLOCK}
    %r = {{line}}
  }}}}
  func.return
}}}}"""


@pytest.mark.parametrize(
    ("line", "of_rows", "of_lanes"),
    [
        (f"tile.mask %v in (%i, _) else 5.0 : {BLOCK}", 5.0, None),
        (f"tile.mask %v in (_, %j) else 5.0 : {BLOCK}", None, 5.0),
        (f"tile.mask %v in (_, %j) else 3.0 : {BLOCK}", 3.0, 3.0),
        (f"tile.mask %u in (_, %j) else 3.0 : {BLOCK}", None, 3.0),
        (f"tile.mask %u in (%i, %j) else 3.0 : {BLOCK}", 3.0, 3.0),
        (f"tile.maximum %v, %c : {BLOCK}", 3.0, 3.0),
        (f"tile.add %u, %c : {BLOCK}", None, None),
        (f"tile.transpose %v [1, 0] : {BLOCK}", 3.0, 3.0),
        (f"tile.cast %v : {BLOCK} to !tile.tile<b0=8 x b1=32 x bf16>", None, None),
        (f"tile.cast %e : {BLOCK} to !tile.tile<b0=8 x b1=32 x bf16>", 1.0, None),
        (f"tile.cast %e : {BLOCK} to !tile.tile<b0=8 x b1=32 x i32>", 1, None),
        ("tile.broadcast %s dims [0, 2] : !tile.tile<b0=8 x 4 x f32> to !tile.tile<b0=8 x b1=32 x 4 x f32>", 3.0, None),
        (f"tile.reshape %v : {BLOCK} to !tile.tile<b0=8 x 32 x f32>", 3.0, 3.0),
        ("tile.broadcast %k dims [] : !tile.tile<f32> to !tile.tile<b0=8 x b1=32 x f32>", 4.0, 4.0),
    ],
)  # fmt: skip
def test_what_lanes_outside_of_a_range_hold(line: str, of_rows: float | None, of_lanes: float | None) -> None:
    text = GRID.format(line=line).replace("%r = ", "%k = tile.full 4.0 : !tile.tile<f32>\n%r = ")
    value = named(parse(text))["r"]
    assert (padding(value, "b0"), padding(value, "b1")) == (of_rows, of_lanes)


def test_a_number_that_is_known_nearly_equals_none() -> None:
    one = Inexact(1.0)
    assert one != 1.0 and not one == 1.0 and not one == one and one < 2.0 and hash(one) == hash(1.0)
