"""Passes on small modules whose numbers tell each lane from all others: the same result, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import run

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
