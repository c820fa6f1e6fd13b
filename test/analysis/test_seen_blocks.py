"""Blocks whose size shows: a write or a branch sees what the lanes of one block were combined to."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.seen_blocks import seen_blocks

TEXT = """
func.func @f(%x: memref<100x64xf32>, %rows: memref<100xf32>, %sum: memref<f32>, %per: memref<64xf32>, %n: index) {{
  tile.grid (%i: b0=8) in (100) {{
    %v = tile.load %x[%i, :] : memref<100x64xf32> -> !tile.tile<b0=8 x 64 x f32>
    %zero = tile.full 0.0 : !tile.tile<f32>
    {body}
  }}
  func.return
}}
"""
ROWS = "%s = tile.reduce add %v [0, 1] : !tile.tile<b0=8 x 64 x f32>"
STORE = "tile.store %s, %sum[] : !tile.tile<f32>, memref<f32>"
LOOP = """%r = tile.for %k: b1=16 in (0, 64) iter(%a = %zero) -> (!tile.tile<f32>) {{
      %w = tile.load %x[0, %k] : memref<100x64xf32> -> !tile.tile<b1=16 x f32>
      %t = tile.{combine} : !tile.tile<b1=16 x f32>
      {use}
      tile.yield %u : !tile.tile<f32>
    }}
    {after}"""
ADD = "%u = tile.add %a, %t : !tile.tile<f32>"


def loop(use: str = ADD, after: str = "", combine: str = "reduce add %w [0]") -> str:
    return LOOP.format(use=use, after=after, combine=combine)


SEEN = {
    "nothing is combined": ("tile.store %v, %x[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>", set()),
    "plain dimensions are combined": (
        "%s = tile.reduce add %v [1] : !tile.tile<b0=8 x 64 x f32>\n"
        " tile.store %s, %rows[%i] : !tile.tile<b0=8 x f32>, memref<100xf32>",
        set(),
    ),
    "a sum that nothing uses": (ROWS, set()),
    "a sum is stored": (f"{ROWS}\n {STORE}", {"b0"}),
    "what is computed of it is stored": (
        f"{ROWS}\n %e = tile.exp %s : !tile.tile<f32>\n tile.store %e, %sum[] : !tile.tile<f32>, memref<f32>",
        {"b0"},
    ),
    "running sums are stored": (
        "%s = tile.scan add %v dim 0 : !tile.tile<b0=8 x 64 x f32>\n"
        " tile.store %s, %x[%i, :] : !tile.tile<b0=8 x 64 x f32>, memref<100x64xf32>",
        {"b0"},
    ),
    "a branch sees a sum": (
        f"{ROWS}\n %c = tile.gt %s, %zero : !tile.tile<f32>\n %b = tile.extract %c : !tile.tile<i1> to i1\n"
        " scf.if %b {\n }",
        {"b0"},
    ),
    "sums are added up": (f"{ROWS}\n atomic.rmw add %s, %sum[] : !tile.tile<f32>, memref<f32>", set()),
    "of sums the largest": (f"{ROWS}\n atomic.rmw max %s, %sum[] : !tile.tile<f32>, memref<f32>", {"b0"}),
    "of the largest the largest": (
        f"{ROWS.replace('add', 'max')}\n atomic.rmw max %s, %sum[] : !tile.tile<f32>, memref<f32>",
        set(),
    ),
    "sums with what was there": (
        f"{ROWS}\n %old = atomic.rmw add %s, %sum[] : !tile.tile<f32>, memref<f32> -> !tile.tile<f32>",
        {"b0"},
    ),
    "sums at the number of a block": (
        f"{ROWS}\n %b = tile.id %i : !tile.range<b0=8>\n"
        " atomic.rmw add %s, %rows[%b] : !tile.tile<f32>, memref<100xf32>",
        {"b0"},
    ),
    "sums at a number from outside": (
        f"{ROWS}\n atomic.rmw add %s, %rows[%n] : !tile.tile<f32>, memref<100xf32>",
        set(),
    ),
    "sums at the number of a block of others": (
        f"{ROWS}\n tile.for %k: b1=16 in (0, 64) {{\n %b = tile.id %k : !tile.range<b1=16>\n"
        " atomic.rmw add %s, %rows[%b] : !tile.tile<f32>, memref<100xf32>\n }",
        set(),
    ),
    "an accumulator is stored behind its loop": (
        loop(after="tile.store %r, %sum[] : !tile.tile<f32>, memref<f32>"),
        set(),
    ),
    "an accumulator is stored at each visit": (
        loop(f"{ADD}\n tile.store %u, %sum[] : !tile.tile<f32>, memref<f32>"),
        {"b1"},
    ),
    "a visit's own sum is stored": (loop(f"{ADD}\n tile.store %t, %sum[] : !tile.tile<f32>, memref<f32>"), {"b1"}),
    "it shows in an inner loop": (
        loop(f"""{ADD}
      tile.for %l: b2=4 in (0, 8) {{
        tile.store %t, %sum[] : !tile.tile<f32>, memref<f32>
      }}"""),
        {"b1"},
    ),
    "it is carried through an inner loop": (
        loop(f"""{ADD}
      %z = tile.for %l: b2=4 in (0, 8) iter(%q = %t) -> (!tile.tile<f32>) {{
        tile.yield %q : !tile.tile<f32>
      }}
      tile.store %z, %sum[] : !tile.tile<f32>, memref<f32>"""),
        {"b1"},
    ),
    "two blocks": (
        f"{ROWS}\n {STORE}\n " + loop(f"{ADD}\n tile.store %t, %sum[] : !tile.tile<f32>, memref<f32>"),
        {"b0", "b1"},
    ),
}


@pytest.mark.parametrize(("body", "wanted"), SEEN.values(), ids=SEEN)
def test_blocks_whose_size_shows(body: str, wanted: set[str]) -> None:
    assert seen_blocks(parse(TEXT.format(body=body))) == wanted


def test_products_sum_over_their_inner_dimension() -> None:
    """A product's sum goes from visit to visit, and shows where it is stored at each."""
    text = """
func.func @f(%a: memref<4x64xf32>, %b: memref<64x2xf32>, %out: memref<4x2xf32>) {{
  tile.grid (%i: b0=1) in (1) {{
    %z = tile.full 0.0 : !tile.tile<4 x 2 x f32>
    %r = tile.for %k: b1=16 in (0, 64) iter(%acc = %z) -> (!tile.tile<4 x 2 x f32>) {{
      %l = tile.load %a[:, %k] : memref<4x64xf32> -> !tile.tile<4 x b1=16 x f32>
      %m = tile.load %b[%k, :] : memref<64x2xf32> -> !tile.tile<b1=16 x 2 x f32>
      %d = tile.dot %l, %m, %acc : !tile.tile<4 x b1=16 x f32>, !tile.tile<b1=16 x 2 x f32> -> !tile.tile<4 x 2 x f32>
      {inside}
      tile.yield %d : !tile.tile<4 x 2 x f32>
    }}
    tile.store %r, %out[:, :] : !tile.tile<4 x 2 x f32>, memref<4x2xf32>
  }}
  func.return
}}
"""
    store = "tile.store %d, %out[:, :] : !tile.tile<4 x 2 x f32>, memref<4x2xf32>"
    assert seen_blocks(parse(text.format(inside=""))) == frozenset()
    assert seen_blocks(parse(text.format(inside=store))) == {"b1"}
