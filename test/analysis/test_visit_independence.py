"""Which loops may be walked in other blocks."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.rescaled_sums import masked_by_exponents
from kopt.analysis.visit_independence import is_blind_to_visits
from kopt.dialects.tile import ForOp

LOOP = """
func.func @f(%x: memref<96x64xf32>, %y: memref<96x64xf32>, %out: memref<64xf32>, %lo: index) {{
  tile.grid (%i: b0=1) in (1) {{
    %z = tile.full 0.0 : !tile.tile<64 x f32>
    %half = tile.full 0.5 : !tile.tile<64 x f32>
    %r = tile.for %k: b1=16 in (%lo, 96) iter(%a = %z) -> (!tile.tile<64 x f32>) {{
      %v = tile.load %x[%k, :] : memref<96x64xf32> -> !tile.tile<b1=16 x 64 x f32>
      {body}
      tile.yield %n : !tile.tile<64 x f32>
    }}
    tile.store %r, %out[:] : !tile.tile<64 x f32>, memref<64xf32>
  }}
  func.return
}}
"""

SUM = "%t = tile.reduce add %v [0] : !tile.tile<b1=16 x 64 x f32>\n"
TOP = "%m = tile.reduce max %v [0] : !tile.tile<b1=16 x 64 x f32>\n"
ADD = "%n = tile.add %a, %t : !tile.tile<64 x f32>\n"
WIDE = "!tile.tile<64 x f32> to !tile.tile<b1=16 x 64 x f32>"
STORE = "!tile.tile<b1=16 x 64 x f32>, memref<96x64xf32>"

BODIES = {
    "sum": (SUM + ADD, True),
    "maximum": (TOP + "%n = tile.maximum %a, %m : !tile.tile<64 x f32>", True),
    "two sums": (
        SUM + "%w = tile.mul %v, %v : !tile.tile<b1=16 x 64 x f32>\n"
        "%t2 = tile.reduce add %w [0] : !tile.tile<b1=16 x 64 x f32>\n"
        "%n1 = tile.add %a, %t : !tile.tile<64 x f32>\n%n = tile.add %n1, %t2 : !tile.tile<64 x f32>",
        True,
    ),
    "lanes stored": (SUM + ADD + f"tile.store %v, %y[%k, :] : {STORE}", True),
    "sum of maxima": (TOP + "%n = tile.add %a, %m : !tile.tile<64 x f32>", False),
    "visits counted": ("%n = tile.add %a, %half : !tile.tile<64 x f32>", False),
    "decay": (
        SUM + "%d = tile.mul %a, %half : !tile.tile<64 x f32>\n%n = tile.add %d, %t : !tile.tile<64 x f32>",
        False,
    ),
    "sum used twice": (
        SUM + ADD + f"%w = tile.broadcast %t dims [1] : {WIDE}\n%c = tile.sub %v, %w : !tile.tile<b1=16 x 64 x f32>\n"
        f"tile.store %c, %y[%k, :] : {STORE}",
        False,
    ),
    "last block stored": (SUM + ADD + "tile.store %n, %out[:] : !tile.tile<64 x f32>, memref<64xf32>", False),
    "updated": (SUM + ADD + "atomic.rmw add %half, %out[:] : !tile.tile<64 x f32>, memref<64xf32>", False),
}


ONLINE = """
func.func @f(%x: memref<96x64xf32>, %y: memref<96xi1>, %out: memref<64xf32>, %lo: index) {{
  tile.grid (%i: b0=1) in (1) {{
    %z = tile.full 0.0 : !tile.tile<64 x f32>
    %least = tile.full {least} : !tile.tile<64 x f32>
    %r, %s = tile.for %k: b1=16 in (%lo, 96) iter(%a = %z, %m = %least)
        -> (!tile.tile<64 x f32>, !tile.tile<64 x f32>) {{
      %u = tile.load %x[%k, :] : memref<96x64xf32> -> !tile.tile<b1=16 x 64 x f32>
      {exponent}
      %top = tile.reduce max %v [0] : !tile.tile<b1=16 x 64 x f32>
      %grown = tile.maximum %m, %top : !tile.tile<64 x f32>
      %less = tile.sub %m, %grown : !tile.tile<64 x f32>
      %shrink = tile.exp %less : !tile.tile<64 x f32>
      %by = tile.broadcast %{by} dims [1] : !tile.tile<64 x f32> to !tile.tile<b1=16 x 64 x f32>
      %d = tile.sub %v, %by : !tile.tile<b1=16 x 64 x f32>
      %w = tile.exp %d : !tile.tile<b1=16 x 64 x f32>
      %t = tile.reduce add %w [0] : !tile.tile<b1=16 x 64 x f32>
      %kept = tile.mul %a, %shrink : !tile.tile<64 x f32>
      %n = tile.add %kept, %t : !tile.tile<64 x f32>
      tile.yield %n, %grown : !tile.tile<64 x f32>, !tile.tile<64 x f32>
    }}
    tile.store %r, %out[:] : !tile.tile<64 x f32>, memref<64xf32>
  }}
  func.return
}}
"""
PLAIN = "%v = tile.mul %u, %u : !tile.tile<b1=16 x 64 x f32>"
MASKED = (
    "%p = tile.load %y[%k] : memref<96xi1> -> !tile.tile<b1=16 x i1>\n"
    "%q = tile.broadcast %p dims [0] : !tile.tile<b1=16 x i1> to !tile.tile<b1=16 x 64 x i1>\n"
    "%none = tile.full -inf : !tile.tile<b1=16 x 64 x f32>\n"
    "%v = tile.select %q, %u, %none : !tile.tile<b1=16 x 64 x f32>"
)
CARRIED = (
    "%b = tile.broadcast %a dims [1] : !tile.tile<64 x f32> to !tile.tile<b1=16 x 64 x f32>\n"
    "%v = tile.add %u, %b : !tile.tile<b1=16 x 64 x f32>"
)


@pytest.mark.parametrize(
    ("exponent", "least", "by", "expected"),
    [
        (PLAIN, "-inf", "grown", True),
        (MASKED, "-1.0e+30", "grown", True),
        (MASKED, "-inf", "grown", False),  # a visit of masked lanes alone is -inf - -inf
        (CARRIED, "-1.0e+30", "grown", False),
        (PLAIN, "-inf", "top", False),  # each visit by its own maximum
    ],
)
def test_sums_rescaled_by_a_maximum(exponent: str, least: str, by: str, expected: bool) -> None:
    module = kopt.parse(ONLINE.format(exponent=exponent, least=least, by=by))
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    assert is_blind_to_visits(loop) is expected


def test_one_mask_of_the_exponent_serves_all_sums() -> None:
    module = kopt.parse(ONLINE.format(exponent=PLAIN, least="-inf", by="grown"))
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    ((exponent, places),) = masked_by_exponents(loop).items()
    assert exponent.name_hint == "v" and {op.results[0].name_hint for op, _ in places} == {"top", "t"}


@pytest.mark.parametrize("name", BODIES)
def test_blindness(name: str) -> None:
    body, expected = BODIES[name]
    module = kopt.parse(LOOP.format(body=body))
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    assert is_blind_to_visits(loop) is expected
