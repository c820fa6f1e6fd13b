"""Cells of a grid that touch each other's elements are reported, with both places."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import KoptError
from test.interpreter.support import run_text

SUM = """
func.func @f(%x: memref<12xf32>, %out: memref<1xf32>) {
  tile.grid (%i: b0=4) in (12)MODE {
    %v = tile.load %x[%i] : memref<12xf32> -> !tile.tile<b0=4 x f32>
    %s = tile.reduce add %v [0] : !tile.tile<b0=4 x f32>
    %o = tile.load %out[0] : memref<1xf32> -> !tile.tile<f32>
    %t = tile.add %o, %s : !tile.tile<f32>
    tile.store %t, %out[0] : !tile.tile<f32>, memref<1xf32>
  }
  func.return
}
"""


def sum_of_twelve(mode: str, **options) -> float:
    """Run `SUM`."""
    x, out = np.arange(12, dtype=np.float32), np.zeros(1, np.float32)
    run_text(SUM.replace("MODE", mode), x, out, **options)
    return float(out[0])


def test_a_lost_update_is_reported_with_both_places() -> None:
    """The load of one cell, the store of another."""
    with pytest.raises(KoptError) as error:
        sum_of_twelve("")
    assert "<string>:6:10: error: 'tile.load' reads what 'tile.store' of another cell" in str(error.value)
    assert "the other access is at <string>:8:5" in str(error.value)


@pytest.mark.parametrize("mode", [" reduce [0]", " ordered [0]"])
def test_cells_in_order_do_not_conflict(mode: str) -> None:
    """They run one after the other."""
    assert sum_of_twelve(mode) == 66


def test_the_check_can_be_left_out() -> None:
    """Then the order of cells decides."""
    assert sum_of_twelve("", check_conflicts=False) == 66


OVERLAP = """
func.func @f(%x: memref<8xf32>) {
  %r = host.reshape %x : memref<8xf32> to memref<2x4xf32>
  %s = host.slice %r [0, 0] [2, STOP] [1, 1] : memref<2x4xf32> to memref<2xSTOPxf32, strided<[4, 1]>>
  tile.grid (%i: b0=1) in (2) {
    %c = arith.constant 2 : index
    %b = tile.begin %i : !tile.range<b0=1>
    %at = arith.muli %b, %c : index
    %v = tile.load %x[%at] : memref<8xf32> -> !tile.tile<f32>
    %w = tile.broadcast %v dims [] : !tile.tile<f32> to !tile.tile<b0=1 x STOP x f32>
    tile.store %w, %s[%i, :] : !tile.tile<b0=1 x STOP x f32>, memref<2xSTOPxf32, strided<[4, 1]>>
  }
  func.return
}
"""


def test_views_share_their_source() -> None:
    """A write through a view of a view meets a read of the argument; one element less does not."""
    run_text(OVERLAP.replace("STOP", "2"), np.zeros(8, np.float32))
    with pytest.raises(KoptError, match="of another cell"):
        run_text(OVERLAP.replace("STOP", "3"), np.zeros(8, np.float32))


def test_the_order_of_cells_depends_on_the_seed() -> None:
    """Two cells write one element: which one wins is chance, but repeatable."""
    text = """
    func.func @f(%out: memref<1xi32>) {
      tile.grid (%i: b0=1) in (20) {
        %n = tile.index %i : !tile.range<b0=1>
        %s = tile.reduce add %n [0] : !tile.tile<b0=1 x i32>
        tile.store %s, %out[0] : !tile.tile<i32>, memref<1xi32>
      }
      func.return
    }
    """

    def last(seed: int) -> int:
        out = np.zeros(1, np.int32)
        run_text(text, out, seed=seed, check_conflicts=False)
        return int(out[0])

    assert len({last(seed) for seed in range(8)}) > 1
    assert last(3) == last(3)


ROWS = """
func.func @f(%rows: memref<4xi32>, %out: memref<3xi32>) {
  tile.grid (%i: b0=1) in (4) {
    %r = tile.load %rows[%i] : memref<4xi32> -> !tile.tile<b0=1 x i32>
    %n = tile.index %i : !tile.range<b0=1>
    OPS
    tile.store %n, %out[%r] : !tile.tile<b0=1 x i32>, memref<3xi32>
  }
  func.return
}
"""


def test_computed_rows_may_be_named_by_several_cells() -> None:
    """One of the values stays; but no cell may read them."""
    rows, out = np.array([2, 1, 2, 2], np.int32), np.full(3, -1, np.int32)
    run_text(ROWS.replace("OPS", ""), rows, out)
    assert out[0] == -1 and out[1] == 1 and out[2] in (0, 2, 3)
    with pytest.raises(KoptError, match="of another cell"):
        run_text(ROWS.replace("OPS", "%o = tile.load %out[%r] : memref<3xi32> -> !tile.tile<b0=1 x i32>"), rows, out)
