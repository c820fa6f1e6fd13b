"""Which lanes of blocks are valid after they are cut at a number, or scaled: sums of them leave out the others."""

from __future__ import annotations

import numpy as np
import pytest

from test.interpreter.support import run_text

CUT = """
func.func @f(%x: memref<13x6xf32>) -> memref<4xf32> {{
  %out = host.alloc : memref<4xf32>
  tile.grid (%i: b0=4) in (13) {{
    %n = arith.constant {first} : index
    %v = tile.load %x[%i, :] : memref<13x6xf32> -> !tile.tile<b0=4 x 6 x f32>
    %f = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<{shape} x f32>
    %c = tile.dynamic_slice %f from %n dim 0 : !tile.tile<{shape} x f32> to !tile.tile<{cut} x f32>
    %e = tile.exp %c : !tile.tile<{cut} x f32>
    %s = tile.reduce add %e [{dims}] : !tile.tile<{cut} x f32>
    %id = tile.id %i : !tile.range<b0=4>
    tile.store %s, %out[%id] : !tile.tile<f32>, memref<4xf32>
  }}
  func.return %out : memref<4xf32>
}}
"""


@pytest.mark.parametrize(
    ("shape", "cut", "first", "dims"),
    [((24,), (5,), 3, "0"), ((8, 3), (2, 3), 1, "0, 1"), ((4, 6), (3, 6), 0, "0, 1"), ((4, 6), (2, 6), 2, "0, 1")],
)
def test_a_part_of_a_block_that_lacks_lanes(
    shape: tuple[int, ...], cut: tuple[int, ...], first: int, dims: str
) -> None:
    x = np.arange(78, dtype=np.float32).reshape(13, 6) / 40
    text = CUT.format(shape=" x ".join(map(str, shape)), cut=" x ".join(map(str, cut)), first=first, dims=dims)
    (found,) = run_text(text, x)
    rows = np.exp(np.concatenate([x, np.full((3, 6), -np.inf, np.float32)])).reshape(4, *shape)
    wanted = rows[:, first : first + cut[0]].reshape(4, -1).sum(1)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


SCALED = """
func.func @f(%x: memref<{rows}xf8E5M2>, %s: memref<{scales}xui8>) -> memref<1xf32> {{
  %out = host.alloc : memref<1xf32>
  tile.grid (%i: b0=4) in (3) {{
    %v = tile.load %x[{at}] : memref<{rows}xf8E5M2> -> !tile.tile<{tile} x f8E5M2>
    %t = tile.load %s[{scale_at}] : memref<{scales}xui8> -> !tile.tile<{scale} x ui8>
    %w = tile.scaling_extf e5m2 %v, %t dim {dim} : !tile.tile<{tile} x f8E5M2>, !tile.tile<{scale} x ui8>
      to !tile.tile<{tile} x f32>
    %f = tile.reshape %w : !tile.tile<{tile} x f32> to !tile.tile<256 x f32>
    %r = tile.reduce add %f [0] : !tile.tile<256 x f32>
    %id = tile.id %i : !tile.range<b0=4>
    tile.store %r, %out[%id] : !tile.tile<f32>, memref<1xf32>
  }}
  func.return %out : memref<1xf32>
}}
"""


def test_scaled_rows_of_a_block_that_lacks_some() -> None:
    """The last of four rows is not there."""
    x, scales = np.ones((3, 64), np.float32), np.array([[127, 128], [127, 127], [129, 127]], np.uint8)
    text = SCALED.format(
        rows="3x64", scales="3x2", at="%i, :", scale_at="%i, :", tile="b0=4 x 64", scale="b0=4 x 2", dim=1
    )
    (found,) = run_text(text, x, scales)
    assert found.tolist() == [32 * float(np.exp2(scales.astype(int) - 127).sum())]
