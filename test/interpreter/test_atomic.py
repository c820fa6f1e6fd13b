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


AFTER_UPDATES = """
func.func @f(%x: memref<1xf32>, %y: memref<8xf32>) {
  tile.grid (%i: b0=1) in (8) {
    %one = tile.full 1.0 : !tile.tile<b0=1 x f32>
    %zero = tile.full 0 : !tile.tile<b0=1 x i32>
    atomic.rmw add %one, %x[%zero] : !tile.tile<b0=1 x f32>, memref<1xf32>
    %v = tile.load %x[0] : memref<1xf32> -> !tile.tile<f32>
    %w = tile.broadcast %v dims [] : !tile.tile<f32> to !tile.tile<b0=1 x f32>
    tile.store %w, %y[%i] : !tile.tile<b0=1 x f32>, memref<8xf32>
  }
  func.return
}
"""


def test_a_read_of_what_several_cells_updated_conflicts() -> None:
    """Also where the last to update was the cell that reads."""
    with pytest.raises(KoptError, match="of another cell"):
        run_text(AFTER_UPDATES, np.zeros(1, np.float32), np.zeros(8, np.float32))


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


ADDS = """
func.func @f(%x: memref<1xTYPE>) {
  tile.grid (%i: b0=1) in (5) {
    %one = tile.full 1.0 : !tile.tile<TYPE>
    atomic.rmw add %one, %x[0] : !tile.tile<TYPE>, memref<1xTYPE>
  }
  func.return
}
"""


@pytest.mark.parametrize(
    "type, start, wanted", [("bf16", 256, 260), ("f16", 2048, 2052), ("f8E5M2", 8, 12), ("f32", 2**24, 2**24)]
)
def test_narrow_sums_are_made_in_f32(type: str, start: int, wanted: int) -> None:
    """Adding 1 to what has a unit of 2 changes nothing each time, but five of them do."""
    x = np.array([start], np.float16 if type == "f16" else np.float32)
    run_text(ADDS.replace("TYPE", type), x)
    assert x.tolist() == [wanted]


def test_what_is_stored_in_between_is_added_to() -> None:
    """A sum ends where an exchange writes."""
    text = """
    func.func @f(%x: memref<1xbf16>) {
      tile.grid (%i: b0=1) in (1) {
        %one = tile.full 1.0 : !tile.tile<bf16>
        %other = tile.full 512.0 : !tile.tile<bf16>
        atomic.rmw add %one, %x[0] : !tile.tile<bf16>, memref<1xbf16>
        atomic.rmw xchg %other, %x[0] : !tile.tile<bf16>, memref<1xbf16>
        atomic.rmw add %other, %x[0] : !tile.tile<bf16>, memref<1xbf16>
      }
      func.return
    }
    """
    x = np.array([256], np.float32)
    run_text(text, x)
    assert x.tolist() == [1024]


def test_lanes_go_in_row_major_order() -> None:
    """The last lane's exchange stays, and each finds what the one before left."""
    text = """
    func.func @f(%x: memref<1xi32>, %old: memref<2x3xi32>) {
      tile.grid (%i: b0=2) in (2) {
        %zero = tile.full 0 : !tile.tile<b0=2 x 3 x i32>
        %v = tile.load %old[%i, :] : memref<2x3xi32> -> !tile.tile<b0=2 x 3 x i32>
        %p = atomic.rmw xchg %v, %x[%zero] : !tile.tile<b0=2 x 3 x i32>, memref<1xi32> -> !tile.tile<b0=2 x 3 x i32>
        tile.store %p, %old[%i, :] : !tile.tile<b0=2 x 3 x i32>, memref<2x3xi32>
      }
      func.return
    }
    """
    x, old = np.array([9], np.int32), np.arange(6, dtype=np.int32).reshape(2, 3)
    run_text(text, x, old)
    assert (x.tolist(), old.tolist()) == ([5], [[9, 0, 1], [2, 3, 4]])


def test_ordered_cells_go_in_grid_order() -> None:
    """Tickets of an ordered grid are the cells' numbers, whatever the seed."""
    text = """
    func.func @f(%x: memref<1xi32>, %ticket: memref<7xi32>) {
      tile.grid (%i: b0=1) in (7) ordered [0] {
        %one = tile.full 1 : !tile.tile<b0=1 x i32>
        %zero = tile.full 0 : !tile.tile<b0=1 x i32>
        %t = atomic.rmw add %one, %x[%zero] : !tile.tile<b0=1 x i32>, memref<1xi32> -> !tile.tile<b0=1 x i32>
        tile.store %t, %ticket[%i] : !tile.tile<b0=1 x i32>, memref<7xi32>
      }
      func.return
    }
    """
    for seed in range(3):
        ticket = np.zeros(7, np.int32)
        run_text(text, np.zeros(1, np.int32), ticket, seed=seed)
        assert ticket.tolist() == list(range(7))


def test_repeated_elements_of_a_view_are_one() -> None:
    """Every lane of an expanded dimension updates the same element."""
    text = """
    func.func @f(%x: memref<3x1xf32>, %s: memref<1xf32>) {
      %wide = host.expand %x : memref<3x1xf32> to memref<3x5xf32, strided<[1, 0]>>
      tile.grid (%i: b0=2) in (3) {
        %one = tile.full 1.0 : !tile.tile<b0=2 x 5 x f32>
        atomic.rmw add %one, %wide[%i, :] : !tile.tile<b0=2 x 5 x f32>, memref<3x5xf32, strided<[1, 0]>>
      }
      func.return
    }
    """
    x = np.zeros((3, 1), np.float32)
    run_text(text, x, np.zeros(1, np.float32))
    assert x.tolist() == [[5.0]] * 3


def test_floats_are_compared_by_their_bits() -> None:
    """NaN equals itself, and 0.0 does not equal -0.0."""
    text = """
    func.func @f(%x: memref<3xf32>, %e: memref<3xf32>) {
      tile.grid (%i: b0=4) in (3) {
        %v = tile.load %e[%i] : memref<3xf32> -> !tile.tile<b0=4 x f32>
        %one = tile.full 1.0 : !tile.tile<b0=4 x f32>
        %old = atomic.cas %v, %one, %x[%i] : !tile.tile<b0=4 x f32>, memref<3xf32>
      }
      func.return
    }
    """
    x = np.array([np.nan, 0.0, 2.0], np.float32)
    run_text(text, x, np.array([np.nan, -0.0, 2.0], np.float32))
    assert x.tolist() == [1.0, 0.0, 1.0]


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
