"""Loops from computed elements on, before and after their blocks are aligned: the same, of each begin and end."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.tile import DotOp, ReduceOp, SelectOp
from kopt.interpreter import run
from kopt.walk import walk

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


C, V, W, S = (f"!tile.tile<{dims} x f32>" for dims in ("8", "8 x b1=16", "b1=16 x 128", "8 x 128"))
ONLINE = f"""
func.func @f(%x: memref<8x44xf32>, %y: memref<44x128xf32>, %bounds: memref<2xi32>, %out: memref<8x128xf32>) {{
  tile.grid (%i: b0=1) in (1) {{
    %b0 = tile.load %bounds[0] : memref<2xi32> -> !tile.tile<i32>
    %e0 = tile.load %bounds[1] : memref<2xi32> -> !tile.tile<i32>
    %lo = tile.extract %b0 : !tile.tile<i32> to index
    %hi = tile.extract %e0 : !tile.tile<i32> to index
    %low = tile.full -1.0e30 : {C}
    %zero = tile.full 0.0 : {S}
    %largest, %sum = tile.for %k: b1=16 in (%lo, %hi) iter(%m = %low, %s = %zero) -> ({C}, {S}) {{
      %w = tile.load %y[%k, :] : memref<44x128xf32> -> {W}
      %u = tile.load %y[%k, 0:8] : memref<44x128xf32> -> !tile.tile<b1=16 x 8 x f32>
      %v = tile.transpose %u [1, 0] : !tile.tile<b1=16 x 8 x f32>
      %r = tile.reduce max %v [1] : {V}
      %n = tile.maximum %m, %r : {C}
      %b = tile.broadcast %n dims [0] : {C} to {V}
      %d = tile.sub %v, %b : {V}
      %p = tile.exp %d : {V}
      %c = tile.sub %m, %n : {C}
      %a = tile.exp %c : {C}
      %ab = tile.broadcast %a dims [0] : {C} to {S}
      %kept = tile.mul %s, %ab : {S}
      %t = tile.dot %p, %w, %kept : {V}, {W} -> {S}
      tile.yield %n, %t : {C}, {S}
    }}
    tile.store %sum, %out[:, :] : {S}, memref<8x128xf32>
  }}
  func.return
}}"""


def test_exponents_are_masked_once() -> None:
    """What is summed by powers of them is 0 then: neither the maximum nor the powers have masks of their own."""
    before, after = kopt.parse(ONLINE), kopt.parse(ONLINE)
    kopt.run_pipeline(after, "return-mutated-arguments,functionalise-host,align-accesses{cases=loops}")
    assert "_blocks" in str(after)
    masked = [op.on_true.name_hint for op in walk(after, SelectOp)]
    assert sorted(masked) == ["v", "w"]
    (product,) = walk(after, DotOp)
    (largest,) = [op for op in walk(after, ReduceOp) if op.kind.data == "max"]
    assert product.lhs.name_hint == "p" and isinstance(product.rhs.owner, SelectOp)
    assert isinstance(largest.input.owner, SelectOp) and largest.input.owner.on_false.owner.number == -np.inf  # pyright: ignore
    y = np.random.default_rng(0).standard_normal((44, 128)).astype(np.float32)
    for low, high in BOUNDS:
        bounds, out = np.array([low, high], np.int32), np.zeros((8, 128), np.float32)
        given = [np.zeros((8, 44), np.float32), y, bounds]
        (found,) = run(after, "f", [*given, out.copy()])
        run(before, "f", [*given, out])
        np.testing.assert_allclose(found, out, rtol=1e-5, atol=1e-6, err_msg=f"{low} to {high}")
