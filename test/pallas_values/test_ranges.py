"""Numbers, lanes and validity of ranges, masks, and scalar arithmetic, against the reference interpreter."""

from __future__ import annotations

import numpy as np
import torch

import kopt
import kopt.language as hl

TEXT = """
func.func @f(%x: memref<40x128xf32>) -> (memref<3x128xf32>, memref<48xi32>) {
  %sums = host.alloc : memref<3x128xf32>
  %lanes = host.alloc fill 0 : memref<48xi32>
  tile.grid (%i: b0=16) in (40) {
    %id = tile.id %i : !tile.range<b0=16>
    %begin = tile.begin %i : !tile.range<b0=16>
    %end = tile.end %i : !tile.range<b0=16>
    %count = tile.count %i : !tile.range<b0=16>
    %three = arith.constant 3 : index
    %length = arith.subi %end, %begin : index
    %left = arith.subi %count, %id : index
    %least = arith.minsi %length, %three : index
    %half = arith.floordivsi %length, %three : index
    %code = arith.muli %half, %left : index
    %some = arith.addi %code, %least : index
    %v = tile.load %x[%i, :] : memref<40x128xf32> -> !tile.tile<b0=16 x 128 x f32>
    %m = tile.mask %v in (%i, _) else 0.5 : !tile.tile<b0=16 x 128 x f32> to !tile.tile<16 x 128 x f32>
    %s = tile.reduce add %m [0] : !tile.tile<16 x 128 x f32>
    tile.store %s, %sums[%id, :] : !tile.tile<128 x f32>, memref<3x128xf32>
    %n = tile.index %i : !tile.range<b0=16>
    %ok = tile.valid %i : !tile.range<b0=16>
    %c = tile.splat %some : index to !tile.tile<b0=16 x i32>
    %z = tile.full -1 : !tile.tile<b0=16 x i32>
    %w = tile.select %ok, %n, %z : !tile.tile<b0=16 x i32>
    %t = tile.add %w, %c : !tile.tile<b0=16 x i32>
    tile.store %t, %lanes[%i] : !tile.tile<b0=16 x i32>, memref<48xi32>
  }
  func.return %sums, %lanes : memref<3x128xf32>, memref<48xi32>
}
"""


def test_ranges() -> None:
    """A ragged last block: its end, its valid lanes, its masked sum."""
    x = np.random.default_rng(1).standard_normal((40, 128)).astype(np.float32)
    module = kopt.parse(TEXT)
    expected, found = (
        kopt.lower_module(module, target=target).compile()(x) for target in ("reference", "pallas:interpret")
    )
    np.testing.assert_allclose(np.asarray(found[0]), np.asarray(expected[0]), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.asarray(found[1]), np.asarray(expected[1]))


@kopt.kernel(target="pallas:interpret")
def rows_at_an_xor(x, out):
    for i in hl.grid(4):
        out[i, :, :] = x[hl.arange(6) + ((i * 2) ^ 6), :]
    return out


def test_blocks_begin_where_a_number_says() -> None:
    """Six, four, two and zero: not all of them multiples of a block of six rows."""
    x = torch.arange(14 * 128.0).view(14, 128)
    assert torch.equal(rows_at_an_xor(x, torch.zeros(4, 6, 128)), torch.stack([x[n : n + 6] for n in (6, 4, 2, 0)]))
