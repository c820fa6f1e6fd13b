"""Loops from computed elements on, before and after their blocks are aligned: the same, of each begin and end."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.interpreter import run

BEGIN = """tile.grid (%i: b0=1) in (1) {
    %s = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %s : !tile.tile<i32> to index
    %hi = tile.extract %e : !tile.tile<i32> to index
    %z = tile.full 0 : !tile.tile<128 x i32>
    """
CASES = {
    "a sum of rows": """
    %r = tile.for %k: b1=16 in (%lo, %hi) iter(%a = %z) -> (!tile.tile<128 x i32>) {
      %v = tile.load %x[%k, :] : memref<44x128xi32> -> !tile.tile<b1=16 x 128 x i32>
      %t = tile.reduce add %v [0] : !tile.tile<b1=16 x 128 x i32>
      %n = tile.add %a, %t : !tile.tile<128 x i32>
      tile.yield %n : !tile.tile<128 x i32>
    }
    tile.store %r, %out[0, :] : !tile.tile<128 x i32>, memref<44x128xi32>""",
    "rows by their numbers": """
    %r = tile.for %k: b1=16 in (%lo, %hi) iter(%a = %z) -> (!tile.tile<128 x i32>) {
      %v = tile.load %x[%k, :] : memref<44x128xi32> -> !tile.tile<b1=16 x 128 x i32>
      %number = tile.index %k : !tile.range<b1=16>
      %b = tile.broadcast %number dims [0] : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x 128 x i32>
      %p = tile.mul %v, %b : !tile.tile<b1=16 x 128 x i32>
      %t = tile.reduce add %p [0] : !tile.tile<b1=16 x 128 x i32>
      %n = tile.add %a, %t : !tile.tile<128 x i32>
      tile.yield %n : !tile.tile<128 x i32>
    }
    tile.store %r, %out[0, :] : !tile.tile<128 x i32>, memref<44x128xi32>""",
    "rows that are written": """
    tile.for %k: b1=16 in (%lo, %hi) {
      %v = tile.load %x[%k, :] : memref<44x128xi32> -> !tile.tile<b1=16 x 128 x i32>
      tile.store %v, %out[%k, :] : !tile.tile<b1=16 x 128 x i32>, memref<44x128xi32>
    }""",
    "shifted rows": """
    tile.for %row: b1=16 in (0, %hi) {
      %k = tile.shift %row by %lo : !tile.range<b1=16>
      %v = tile.load %x[%k, :] : memref<44x128xi32> -> !tile.tile<b1=16 x 128 x i32>
      %l = tile.shift %row by %lo : !tile.range<b1=16>
      tile.store %v, %out[%l, :] : !tile.tile<b1=16 x 128 x i32>, memref<44x128xi32>
    }""",
}
#: Ends are counts where rows are shifted.
BOUNDS = [(0, 44), (0, 0), (9, 9), (30, 7), (1, 2), (7, 17), (8, 24), (13, 29), (27, 44), (43, 44)]


@pytest.mark.parametrize("name", CASES)
def test_each_element_counts_once(name: str) -> None:
    text = f"""
    func.func @f(%x: memref<44x128xi32>, %bounds: memref<2xi32>, %out: memref<44x128xi32>) {{
      {BEGIN}{CASES[name]}
      }}
      func.return
    }}"""
    before, after = kopt.parse(text), kopt.parse(text)
    kopt.run_pipeline(after, "return-mutated-arguments,functionalise-host,align-accesses{cases=loops}")
    assert "_blocks" in str(after) and "_blocks" not in str(before)
    x = np.random.default_rng(0).integers(-99, 99, (44, 128), np.int32)
    for low, high in BOUNDS:
        bounds = np.array([low, high - low if name == "shifted rows" else high], np.int32)
        out = np.full((44, 128), -1, np.int32)
        (found,) = run(after, "f", [x.copy(), bounds, out.copy()])
        run(before, "f", [x.copy(), bounds, out])
        np.testing.assert_array_equal(found, out, err_msg=f"{low} to {high}")
        wanted = x[low:high] * (np.arange(low, max(low, high))[:, None] if "numbers" in name else 1)
        is_sum = "%out[0, :]" in CASES[name]
        rows = wanted.sum(0, keepdims=True) if is_sum else wanted
        np.testing.assert_array_equal(found[:1] if is_sum else found[low : max(low, high)], rows)
