"""Single elements at the number of a cell, or of a loop's block: as the block of one lane that they are."""

from __future__ import annotations

import numpy as np
import pytest

import kopt
from kopt.dialects.tile import LoadOp
from kopt.interpreter import run
from kopt.passes.mosaic.scalars import own_lane
from kopt.walk import walk

TEXT = """
func.func @f(%x: memref<32xbf16>, %out: memref<32xbf16>) {{
  tile.grid (%g: b0=1) in (1) {{
    %c5 = arith.constant 5 : index
    tile.for %i: b1={size} in ({bounds}) {{
      %s = tile.shift %i by %c5 : !tile.range<b1={size}>
      %b = tile.begin %i : !tile.range<b1={size}>
      %n = tile.id %i : !tile.range<b1={size}>
      %later = tile.begin %s : !tile.range<b1={size}>
      %other = tile.id %s : !tile.range<b1={size}>
      %sum = arith.addi %b, %c5 : index
      %v = tile.load %x[{at}] : memref<32xbf16> -> !tile.tile<bf16>
      tile.store %v, %out[%b] : !tile.tile<bf16>, memref<32xbf16>
    }}
  }}
  func.return
}}
"""


@pytest.mark.parametrize(
    ("at", "bounds", "size", "known"),
    [
        ("7", "3, 24", 1, True),
        ("%b", "3, 24", 1, True),
        ("%n", "0, 24", 1, True),
        ("%n", "3, 24", 1, False),  # blocks are counted from the loop's begin
        ("%later", "3, 24", 1, True),
        ("%other", "0, 24", 1, False),
        ("%b", "0, 24", 4, False),
        ("%n", "0, 24", 4, False),
        ("%sum", "0, 24", 1, False),
    ],
)
def test_as_before(at: str, bounds: str, size: int, known: bool) -> None:
    text = TEXT.format(at=at, bounds=bounds, size=size)
    (load,) = walk(kopt.parse(text), LoadOp)
    assert (own_lane(load.entries[0]) is not None) is known
    x = np.random.default_rng(0).integers(-9, 9, 32).astype(np.float32)
    before, after = np.zeros(32, np.float32), np.zeros(32, np.float32)
    run(kopt.parse(text), "f", [x, before])
    module = kopt.run_pipeline(kopt.parse(text), "expand-for-mosaic")
    run(module, "f", [x, after])
    np.testing.assert_array_equal(after, before)
