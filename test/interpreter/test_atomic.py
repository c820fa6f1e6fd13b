"""Atomic updates: every one counts, in whatever order the cells run."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import KoptError
from test.interpreter.support import run_text

HISTOGRAM = """
func.func @f(%bins: memref<10xi32>, %count: memref<4xi32>, %tickets: memref<10xi32>) {
  tile.grid (%i: b0=4) in (10) {
    %b = tile.load %bins[%i] : memref<10xi32> -> !tile.tile<b0=4 x i32>
    %one = tile.full 1 : !tile.tile<b0=4 x i32>
    %t = atomic.rmw add %one, %count[%b] : !tile.tile<b0=4 x i32>, memref<4xi32> -> !tile.tile<b0=4 x i32>
    tile.store %t, %tickets[%i] : !tile.tile<b0=4 x i32>, memref<10xi32>
  }
  func.return
}
"""


def test_duplicates_in_a_block_and_between_cells() -> None:
    """Counts are exact, and the tickets of a bin are all different."""
    bins = np.array([0, 1, 1, 1, 3, 1, 0, 3, 3, 1], np.int32)
    count, tickets = np.zeros(4, np.int32), np.zeros(10, np.int32)
    run_text(HISTOGRAM, bins, count, tickets)
    assert count.tolist() == [2, 5, 0, 3]
    assert all(sorted(tickets[bins == b]) == list(range(n)) for b, n in enumerate(count))


def test_plain_reads_of_what_others_update_conflict() -> None:
    """Updates do not conflict with each other, but with loads and stores they do."""
    text = """
    func.func @f(%x: memref<4xf32>, %y: memref<8xf32>) {
      tile.grid (%i: b0=4) in (8) {
        %v = tile.load %x[:] : memref<4xf32> -> !tile.tile<4 x f32>
        atomic.rmw max %v, %x[:] : !tile.tile<4 x f32>, memref<4xf32>
      }
      func.return
    }
    """
    with pytest.raises(KoptError, match="of another cell"):
        run_text(text, np.zeros(4, np.float32), np.zeros(8, np.float32))


def test_compare_and_swap() -> None:
    """The first lane that finds what it expects wins; masked lanes do not try."""
    text = """
    func.func @f(%x: memref<1xi32>, %won: memref<4xi32>, %try: memref<4xi1>) {
      tile.grid (%i: b0=4) in (4) {
        %zero = tile.full 0 : !tile.tile<b0=4 x i32>
        %m = tile.load %try[%i] : memref<4xi1> -> !tile.tile<b0=4 x i1>
        %n = tile.index %i : !tile.range<b0=4>
        %old = atomic.cas %zero, %n, %x[%zero] mask %m : !tile.tile<b0=4 x i32>, memref<1xi32>
        tile.store %old, %won[%i] mask %m : !tile.tile<b0=4 x i32>, memref<4xi32>
      }
      func.return
    }
    """
    x, won = np.zeros(1, np.int32), np.full(4, -1, np.int32)
    run_text(text, x, won, np.array([False, False, True, True]))
    assert (x.tolist(), won.tolist()) == ([2], [-1, -1, 0, 2])


def test_bf16_rounds_each_update() -> None:
    """256 + 1 is 256 in bf16, every time."""
    text = """
    func.func @f(%x: memref<1xbf16>) {
      tile.grid (%i: b0=1) in (5) {
        %one = tile.full 1.0 : !tile.tile<bf16>
        atomic.rmw add %one, %x[0] : !tile.tile<bf16>, memref<1xbf16>
      }
      func.return
    }
    """
    x = np.array([256], np.float32)
    run_text(text, x)
    assert x.tolist() == [256]


def test_jagged_sum() -> None:
    """Each item sums its own rows; empty and ragged ones too."""
    text = """
    func.func @f(%data: memref<20xf32>, %offsets: memref<7xi32>, %out: memref<6xf32>) {
      tile.grid (%i: b0=4) in (6) {
        %c = arith.constant 1 : index
        %i1 = tile.shift %i by %c : !tile.range<b0=4>
        %lo = tile.load %offsets[%i] : memref<7xi32> -> !tile.tile<b0=4 x i32>
        %hi = tile.load %offsets[%i1] : memref<7xi32> -> !tile.tile<b0=4 x i32>
        %n = tile.sub %hi, %lo : !tile.tile<b0=4 x i32>
        %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
        %sum = jagged.for %k: b1=8 in %n iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
          %has = jagged.valid %k of %n : !tile.range<b1=8>, !tile.tile<b0=4 x i32>
          %kk = tile.index %k : !tile.range<b1=8>
          %kb = tile.broadcast %kk dims [1] : !tile.tile<b1=8 x i32> to !tile.tile<b0=4 x b1=8 x i32>
          %lb = tile.broadcast %lo dims [0] : !tile.tile<b0=4 x i32> to !tile.tile<b0=4 x b1=8 x i32>
          %at = tile.add %kb, %lb : !tile.tile<b0=4 x b1=8 x i32>
          %v = tile.load %data[%at] mask %has other 0.0 : memref<20xf32> -> !tile.tile<b0=4 x b1=8 x f32>
          %s = tile.reduce add %v [1] : !tile.tile<b0=4 x b1=8 x f32>
          %next = tile.add %a, %s : !tile.tile<b0=4 x f32>
          tile.yield %next : !tile.tile<b0=4 x f32>
        }
        tile.store %sum, %out[%i] : !tile.tile<b0=4 x f32>, memref<6xf32>
      }
      func.return
    }
    """
    data, offsets = np.arange(20, dtype=np.float32), np.array([0, 3, 3, 14, 15, 15, 20], np.int32)
    out = np.zeros(6, np.float32)
    run_text(text, data, offsets, out)
    assert out.tolist() == [data[a:b].sum() for a, b in zip(offsets, offsets[1:], strict=False)]
