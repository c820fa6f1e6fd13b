"""Which plain dimensions are lane by lane the same."""

from __future__ import annotations

from kopt import parse
from kopt.analysis.launch_models.dim_classes import DimClasses
from kopt.dialects.tile import GridOp
from kopt.walk import walk
from test.named import named, only

A, B, C = "!tile.tile<8 x 16 x f32>", "!tile.tile<16 x 4 x f32>", "!tile.tile<8 x 4 x f32>"
TEXT = f"""
func.func @f(%x: memref<8x16xf32>, %y: memref<16x4xf32>) {{
  tile.grid () in () {{
    %a = tile.load %x[:, :] : memref<8x16xf32> -> {A}
    %b = tile.load %y[:, :] : memref<16x4xf32> -> {B}
    %c = tile.dot %a, %b : {A}, {B} -> {C}
    %t = tile.transpose %c [1, 0] : {C}
    %s = tile.reduce add %t [0] : !tile.tile<4 x 8 x f32>
    %u = tile.broadcast %t dims [0, 2] : !tile.tile<4 x 8 x f32> to !tile.tile<4 x 3 x 8 x f32>
    %p = tile.transpose %u [1, 2, 0] : !tile.tile<4 x 3 x 8 x f32>
    %r = tile.reshape %c : {C} to !tile.tile<1 x 8 x 1 x 4 x f32>
    %q = tile.reshape %r : !tile.tile<1 x 8 x 1 x 4 x f32> to !tile.tile<8 x 4 x 1 x f32>
    %m = tile.reshape %c : {C} to !tile.tile<4 x 8 x f32>
    %j = tile.concat %a, %a dim 1 : {A}, {A} to !tile.tile<8 x 32 x f32>
  }}
  func.return
}}
"""


def test_classes() -> None:
    module = parse(TEXT)
    classes, values = DimClasses(), named(module)
    for op in walk(only(module, GridOp)):
        classes.visit(op)

    def same(*nodes: tuple[str, int]) -> bool:
        return len({classes.top((values[name], dim)) for name, dim in nodes}) == 1

    assert same(("a", 0), ("c", 0), ("t", 1), ("s", 0), ("j", 0))  # rows of a product, exchanged, kept by a sum
    assert same(("a", 1), ("b", 0))  # what is summed over
    assert same(("b", 1), ("c", 1), ("t", 0))
    assert same(("t", 0), ("u", 0), ("p", 2)) and same(("t", 1), ("u", 2), ("p", 1)) and same(("u", 1), ("p", 0))
    assert same(("c", 0), ("r", 1), ("q", 0)) and same(("c", 1), ("r", 3), ("q", 1))  # beside others of one lane
    assert not any(same(("c", n), ("m", to)) for n in range(2) for to in range(2))  # as large, and others
    assert not same(("a", 0), ("a", 1)) and not same(("a", 1), ("j", 1))  # lanes behind one another are others
