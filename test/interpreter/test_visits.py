"""What is done on the first or the last visit of loops."""

from __future__ import annotations

import numpy as np
import pytest

from .support import run_text


@pytest.mark.parametrize("visit", ["first", "last"])
def test_what_is_done_on_one_visit_of_several_ranges(visit: str) -> None:
    """On the first, or the last, of all of them."""
    text = f"""
func.func @f(%out: memref<6x8xf32>) {{
  tile.grid (%i: b0=2, %j: b1=4) in (6, 8) {{
    %one = tile.full 1.0 : !tile.tile<b0=2 x b1=4 x f32>
    tile.when {visit} (%i, %j) {{
      tile.store %one, %out[%i, %j] : !tile.tile<b0=2 x b1=4 x f32>, memref<6x8xf32>
    }}
  }}
  func.return
}}
"""
    out = np.zeros((6, 8), np.float32)
    run_text(text, out)
    wanted = np.zeros_like(out)
    wanted[(slice(0, 2), slice(0, 4)) if visit == "first" else (slice(4, 6), slice(4, 8))] = 1
    assert np.array_equal(out, wanted)
