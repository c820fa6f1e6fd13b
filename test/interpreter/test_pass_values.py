"""Passes on small modules whose numbers tell each lane from all others: the same result, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import run

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
    np.testing.assert_array_equal(*found)
