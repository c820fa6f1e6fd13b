"""Passes on small modules whose numbers tell each lane from all others: the same result, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ReshapeOp, tile_type
from kopt.interpreter import run
from kopt.passes.regrouping import regroup
from test.named import only

#: How many lanes of ``%c`` count, stored for each row of the block.
_COUNTED = """%s = tile.reduce add %c [0] : !tile.tile<76 x f32>
        %b = tile.broadcast %s dims [] : !tile.tile<f32> to !tile.tile<b0=4 x f32>
        tile.store %b, %y[%i] : !tile.tile<b0=4 x f32>, memref<13xf32>"""
#: A kernel's body from `%x: memref<13x19xf32>` to `%y`, the shape of `%y`, and the passes.
CASES = {
    "strided": (
        """%v = tile.load %x[%i, 1:13:4] : memref<13x19xf32> -> !tile.tile<b0=4 x 3 x f32>
        tile.store %v, %y[%i, :] : !tile.tile<b0=4 x 3 x f32>, memref<13x3xf32>""",
        "13x3",
        "pad-to-power-of-two,insert-masks",
    ),
    "strided store": (
        """%v = tile.load %x[%i, 2:5] : memref<13x19xf32> -> !tile.tile<b0=4 x 3 x f32>
        tile.store %v, %y[%i, 2:17:5] : !tile.tile<b0=4 x 3 x f32>, memref<13x19xf32>""",
        "13x19",
        "pad-to-power-of-two,insert-masks",
    ),
    "shifted": (
        """%v = tile.load %x[%i, 6:9] : memref<13x19xf32> -> !tile.tile<b0=4 x 3 x f32>
        %s = tile.reduce add %v [1] : !tile.tile<b0=4 x 3 x f32>
        tile.store %s, %y[%i] : !tile.tile<b0=4 x f32>, memref<13xf32>""",
        "13",
        "pad-to-power-of-two,insert-masks",
    ),
    # The last block has one row: 19 lanes of 76 are valid, and the type of %r does not tell.
    "select of one value": (
        """%v = tile.load %x[%i, :] : memref<13x19xf32> -> !tile.tile<b0=4 x 19 x f32>
        %r = tile.reshape %v : !tile.tile<b0=4 x 19 x f32> to !tile.tile<76 x f32>
        %k = tile.valid_lanes %r : !tile.tile<76 x f32> to !tile.tile<76 x i1>
        %o = tile.full 1.0 : !tile.tile<76 x f32>
        %c = tile.select %k, %o, %o : !tile.tile<76 x f32>
        """
        + _COUNTED,
        "13",
        "canonicalize",
    ),
    "select by a constant": (
        """%v = tile.load %x[%i, :] : memref<13x19xf32> -> !tile.tile<b0=4 x 19 x f32>
        %r = tile.reshape %v : !tile.tile<b0=4 x 19 x f32> to !tile.tile<76 x f32>
        %k = tile.full true : !tile.tile<76 x i1>
        %o = tile.full 1.0 : !tile.tile<76 x f32>
        %c = tile.select %k, %o, %r : !tile.tile<76 x f32>
        """
        + _COUNTED,
        "13",
        "canonicalize",
    ),
    "constants reshaped": (
        """%o = tile.full 1.0 : !tile.tile<b0=4 x 19 x f32>
        %c = tile.reshape %o : !tile.tile<b0=4 x 19 x f32> to !tile.tile<76 x f32>
        """
        + _COUNTED,
        "13",
        "canonicalize",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_results_stay(name: str) -> None:
    body, shape, passes = CASES[name]
    text = f"""
    func.func @f(%x: memref<13x19xf32>, %y: memref<{shape}xf32>) {{
      tile.grid (%i: b0=4) in (13) {{ {body} }}
      func.return
    }}"""
    after = kopt.parse(text)
    kopt.run_pipeline(after, passes)
    found = []
    for module in (kopt.parse(text), after):
        y = np.full([int(n) for n in shape.split("x")], -1, np.float32)
        run(module, "f", [np.arange(13 * 19, dtype=np.float32).reshape(13, 19), y])
        found.append(y)
    assert (found[0] >= 0).any()
    if body.endswith(_COUNTED):
        assert found[0][[0, -1]].tolist() == [76, 19]
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("element", ["f32", "i32", "bf16", "i8", "i1"])
@pytest.mark.parametrize(("before", "after"), [("16", "2 x 8"), ("2 x 8", "16"), ("4 x 6", "24"), ("4 x 6", "8 x 3")])
def test_regrouped_lanes_are_the_same(element: str, before: str, after: str) -> None:
    x_type, y_type = (f"memref<{each.replace(' ', '')}xi32>" for each in (before, after))
    text = f"""
    func.func @f(%x: {x_type}, %y: {y_type}) {{
      tile.grid (%i: b0=1) in (1) {{
        %l = tile.load %x[:{", :" * before.count("x")}] : {x_type} -> !tile.tile<{before} x i32>
        %v = tile.cast %l : !tile.tile<{before} x i32> to !tile.tile<{before} x {element}>
        %r = tile.reshape %v : !tile.tile<{before} x {element}> to !tile.tile<{after} x {element}>
        %s = tile.cast %r : !tile.tile<{after} x {element}> to !tile.tile<{after} x i32>
        tile.store %s, %y[:{", :" * after.count("x")}] : !tile.tile<{after} x i32>, {y_type}
      }}
      func.return
    }}"""
    module = kopt.parse(text)
    op = only(module, ReshapeOp)
    new = regroup(Builder(op), op.input, tile_type(op.result).dims.data)
    op.result.replace_all_uses_with(new)
    op.detach()
    module.verify()
    sizes, wanted = ([int(n) for n in each.split(" x ")] for each in (before, after))
    x, y = np.arange(-3, np.prod(sizes) - 3, dtype=np.int32).reshape(sizes), np.full(wanted, -9, np.int32)
    run(module, "f", [x, y])
    np.testing.assert_array_equal(y.ravel(), (x.ravel() != 0) if element == "i1" else x.ravel())
