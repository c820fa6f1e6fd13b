"""Lanes outside their ranges take no part, wherever the lanes go."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import KoptError
from test.interpreter.support import run_text


def ints(*shape: int) -> np.ndarray:
    """1, 2, 3, … in a shape, as floats."""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


SUMS = """
func.func @f(%x: memref<10x7xf32>) -> (memref<10xf32>, memref<3xf32>) {
  %rows = host.alloc : memref<10xf32>
  %blocks = host.alloc : memref<3xf32>
  tile.grid (%i: b0=4) in (10) {
    %v = tile.load %x[%i, :] : memref<10x7xf32> -> !tile.tile<b0=4 x 7 x f32>
    %e = tile.exp %v : !tile.tile<b0=4 x 7 x f32>
    %l = tile.log %e : !tile.tile<b0=4 x 7 x f32>
    %s = tile.reduce add %l [1] : !tile.tile<b0=4 x 7 x f32>
    %t = tile.reduce add %s [0] : !tile.tile<b0=4 x f32>
    %n = tile.id %i : !tile.range<b0=4>
    tile.store %s, %rows[%i] : !tile.tile<b0=4 x f32>, memref<10xf32>
    tile.store %t, %blocks[%n] : !tile.tile<f32>, memref<3xf32>
  }
  func.return %rows, %blocks : memref<10xf32>, memref<3xf32>
}
"""


def test_reduce_twice() -> None:
    """The second sum ignores the rows that the first never had."""
    x = ints(10, 7) / 10
    rows, blocks = run_text(SUMS, x)
    np.testing.assert_allclose(rows, x.sum(1), rtol=1e-5)
    np.testing.assert_allclose(blocks, [x[:4].sum(), x[4:8].sum(), x[8:].sum()], rtol=1e-5)


def test_missing_masks_show_when_masks_are_promised() -> None:
    """``masked=True`` combines what is there: NaN in the last, ragged block."""
    _, blocks = run_text(SUMS, ints(10, 7) / 10, masked=True)
    assert np.isnan(blocks).tolist() == [False, False, True]


@pytest.mark.parametrize("masked", [False, True])
def test_mask_defines_lanes(masked: bool) -> None:
    """After ``tile.mask`` nothing is undefined, under any tag."""
    text = """
    func.func @f(%x: memref<10xf32>) -> memref<3xf32> {
      %out = host.alloc : memref<3xf32>
      tile.grid (%i: b0=4) in (10) {
        %v = tile.load %x[%i] : memref<10xf32> -> !tile.tile<b0=4 x f32>
        %m = tile.mask %v in (%i) else 1.0 : !tile.tile<b0=4 x f32> to !tile.tile<4 x f32>
        %s = tile.reduce mul %m [0] : !tile.tile<4 x f32>
        %n = tile.id %i : !tile.range<b0=4>
        tile.store %s, %out[%n] : !tile.tile<f32>, memref<3xf32>
      }
      func.return %out : memref<3xf32>
    }
    """
    (out,) = run_text(text, ints(10), masked=masked)
    assert out.tolist() == [24, 5 * 6 * 7 * 8, 90]


def test_merged_dimensions() -> None:
    """A reshape that merges a tagged dimension keeps its lanes; so do transposes and slices of plain ones."""
    text = """
    func.func @f(%x: memref<5x6xf32>) -> memref<2xf32> {
      %out = host.alloc : memref<2xf32>
      tile.grid (%i: b0=4) in (5) {
        %v = tile.load %x[%i, :] : memref<5x6xf32> -> !tile.tile<b0=4 x 6 x f32>
        %w = tile.slice %v [0, 1] [4, 2] [1, 3] : !tile.tile<b0=4 x 6 x f32> to !tile.tile<b0=4 x 2 x f32>
        %t = tile.transpose %w [1, 0] : !tile.tile<b0=4 x 2 x f32>
        %f = tile.reshape %t : !tile.tile<2 x b0=4 x f32> to !tile.tile<8 x f32>
        %s = tile.reduce add %f [0] : !tile.tile<8 x f32>
        %n = tile.id %i : !tile.range<b0=4>
        tile.store %s, %out[%n] : !tile.tile<f32>, memref<2xf32>
      }
      func.return %out : memref<2xf32>
    }
    """
    x = ints(5, 6)
    (out,) = run_text(text, x)
    assert out.tolist() == [x[:4, 1::3].sum(), x[4:, 1::3].sum()]


def test_dot_ignores_the_ragged_end_of_the_contracted_dimension() -> None:
    """NaN times zero would show."""
    text = """
    func.func @f(%x: memref<3x10xf32>, %y: memref<10x2xf32>) -> memref<3x2xf32> {
      %out = host.alloc : memref<3x2xf32>
      tile.grid (%i: b0=2, %j: b1=2) in (3, 2) {
        %z = tile.full 0.0 : !tile.tile<b0=2 x b1=2 x f32>
        %r = tile.for %k: b2=4 in (0, 10) iter(%a = %z) -> (!tile.tile<b0=2 x b1=2 x f32>) {
          %l = tile.load %x[%i, %k] : memref<3x10xf32> -> !tile.tile<b0=2 x b2=4 x f32>
          %w = tile.load %y[%k, %j] : memref<10x2xf32> -> !tile.tile<b2=4 x b1=2 x f32>
          %d = tile.dot %l, %w, %a : !tile.tile<b0=2 x b2=4 x f32>, !tile.tile<b2=4 x b1=2 x f32>
            -> !tile.tile<b0=2 x b1=2 x f32>
          tile.yield %d : !tile.tile<b0=2 x b1=2 x f32>
        }
        tile.store %r, %out[%i, %j] : !tile.tile<b0=2 x b1=2 x f32>, memref<3x2xf32>
      }
      func.return %out : memref<3x2xf32>
    }
    """
    x, y = ints(3, 10), ints(10, 2)
    np.testing.assert_array_equal(run_text(text, x, y)[0], x @ y)


def test_an_empty_range_gives_the_neutral_value() -> None:
    """Rows with nothing to sum sum to 0, and are still rows."""
    text = """
    func.func @f(%x: memref<3x8xf32>) -> memref<3xf32> {
      %out = host.alloc : memref<3xf32>
      tile.grid (%i: b0=4) in (3) {
        %z = tile.full 0.0 : !tile.tile<b0=4 x f32>
        %r = tile.for %k: b1=8 in (0, 0) iter(%a = %z) -> (!tile.tile<b0=4 x f32>) {
          tile.yield %a : !tile.tile<b0=4 x f32>
        }
        tile.store %r, %out[%i] : !tile.tile<b0=4 x f32>, memref<3xf32>
      }
      func.return %out : memref<3xf32>
    }
    """
    assert run_text(text, ints(3, 8))[0].tolist() == [0, 0, 0]


def test_count_of_lanes() -> None:
    """Constants over a range count its valid lanes only."""
    text = """
    func.func @f() -> memref<3xi32> {
      %out = host.alloc : memref<3xi32>
      tile.grid (%i: b0=4) in (10) {
        %one = tile.full 1 : !tile.tile<b0=4 x i32>
        %s = tile.reduce add %one [0] : !tile.tile<b0=4 x i32>
        %n = tile.id %i : !tile.range<b0=4>
        tile.store %s, %out[%n] : !tile.tile<i32>, memref<3xi32>
      }
      func.return %out : memref<3xi32>
    }
    """
    assert run_text(text)[0].tolist() == [4, 4, 2]


def test_whole_ranges() -> None:
    """A range wider than its extent: lanes beyond are not loaded, combined or stored."""
    text = """
    func.func @f(%x: memref<4x5xf32>, %out: memref<4x5xf32>) {
      tile.grid (%i: b0=2) in (4) {
        %w = tile.whole 5 : !tile.range<w0=8>
        %v = tile.load %x[%i, %w] : memref<4x5xf32> -> !tile.tile<b0=2 x w0=8 x f32>
        %m = tile.mask %v in (_, %w) else 0.0 : !tile.tile<b0=2 x w0=8 x f32>
        %c = tile.scan add %m dim 1 : !tile.tile<b0=2 x w0=8 x f32>
        tile.store %c, %out[%i, %w] : !tile.tile<b0=2 x w0=8 x f32>, memref<4x5xf32>
      }
      func.return
    }
    """
    x, out = ints(4, 5), np.zeros((4, 5), np.float32)
    run_text(text, x, out, masked=True)
    np.testing.assert_array_equal(out, x.cumsum(1))


def test_argreduce_takes_the_first_and_prefers_nan() -> None:
    """As torch does."""
    text = """
    func.func @f(%x: memref<3x5xf32>) -> memref<3xi32> {
      %out = host.alloc : memref<3xi32>
      tile.grid (%i: b0=1, %k: b1=8) in (3, 5) {
        %v = tile.load %x[%i, %k] : memref<3x5xf32> -> !tile.tile<b0=1 x b1=8 x f32>
        %n = tile.argreduce min %v dim 1 : !tile.tile<b0=1 x b1=8 x f32>
        tile.store %n, %out[%i] : !tile.tile<b0=1 x i32>, memref<3xi32>
      }
      func.return %out : memref<3xi32>
    }
    """
    x = np.array([[3, 1, 1, 2, 5], [4, np.nan, 0, 1, 1], [9, 8, 7, 6, 5]], np.float32)
    assert run_text(text, x)[0].tolist() == [1, 1, 4]


GATHER = """
func.func @f(%x: memref<8xf32>, %ids: memref<6xi32>) -> memref<6xf32> {
  %out = host.alloc fill 9.0 : memref<6xf32>
  tile.grid (%i: b0=4) in (6) {
    %n = tile.load %ids[%i] : memref<6xi32> -> !tile.tile<b0=4 x i32>
    %lo = tile.full 0 : !tile.tile<b0=4 x i32>
    %m = tile.ge %n, %lo : !tile.tile<b0=4 x i32>
    %v = tile.load %x[%n] MASK : memref<8xf32> -> !tile.tile<b0=4 x f32>
    tile.store %v, %out[%i] mask %m : !tile.tile<b0=4 x f32>, memref<6xf32>
  }
  func.return %out : memref<6xf32>
}
"""


def test_gather_checks_the_lanes_that_it_reads() -> None:
    """A masked lane may point anywhere; another may not, and the error says where it is."""
    x, ids = ints(8), np.array([0, -5, 7, 3, 2, 1], np.int32)
    assert run_text(GATHER.replace("MASK", "mask %m other 1.0"), x, ids)[0].tolist() == [1, 9, 8, 4, 3, 2]
    with pytest.raises(KoptError, match=r"<string>:8:10: error: 'tile.load' of %x.*gathers from -5 to 7"):
        run_text(GATHER.replace("MASK", ""), x, ids)


def test_a_shifted_range_may_leave_the_array_where_it_is_masked_only() -> None:
    """``x[i - 1]`` needs a mask for the first element."""
    text = """
    func.func @f(%x: memref<6xf32>) -> memref<6xf32> {
      %out = host.alloc : memref<6xf32>
      tile.grid (%i: b0=4) in (6) {
        %c = arith.constant -1 : index
        %p = tile.shift %i by %c : !tile.range<b0=4>
        %n = tile.index %p : !tile.range<b0=4>
        %z = tile.full 0 : !tile.tile<b0=4 x i32>
        %m = tile.ge %n, %z : !tile.tile<b0=4 x i32>
        %v = tile.load %x[%p] MASK : memref<6xf32> -> !tile.tile<b0=4 x f32>
        tile.store %v, %out[%i] : !tile.tile<b0=4 x f32>, memref<6xf32>
      }
      func.return %out : memref<6xf32>
    }
    """
    assert run_text(text.replace("MASK", "mask %m"), ints(6))[0].tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(KoptError, match="lane \\[0\\] of the block is outside the array"):
        run_text(text.replace("MASK", ""), ints(6))


def test_picks_by_number() -> None:
    """A number outside is refused, as an index of memory is."""
    text = """
    func.func @f(%x: memref<4xf32>, %n: memref<4xi32>, %out: memref<4xf32>) {
      %v = tile.load %x[:] : memref<4xf32> -> !tile.tile<4 x f32>
      %k = tile.load %n[:] : memref<4xi32> -> !tile.tile<4 x i32>
      %t = tile.take_along %v, %k dim 0 : !tile.tile<4 x f32>, !tile.tile<4 x i32>
      tile.store %t, %out[:] : !tile.tile<4 x f32>, memref<4xf32>
      func.return
    }
    """
    out = np.zeros(4, np.float32)
    run_text(text, ints(4), np.array([3, 1, 0, 3], np.int32), out)
    np.testing.assert_array_equal(out, ints(4)[[3, 1, 0, 3]])
    for wrong in (-1, 4):
        with pytest.raises(KoptError, match=f"picks lane {wrong} of dimension 0"):
            run_text(text, ints(4), np.array([3, 1, 0, wrong], np.int32), out)
