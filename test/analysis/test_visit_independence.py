"""Which loops may be walked in other blocks."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.rescaled_sums import masked_by_exponents
from kopt.analysis.visit_independence import is_blind_to_visits
from kopt.dialects.tile import ForOp, StoreOp
from kopt.walk import walk
from test.named import only

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


WEIGHT = "!tile.tile<b1=16 x 64 x f32>"
OF_SUM = f"%o = tile.broadcast %a dims [1] : {WIDE}\n"


@pytest.mark.parametrize(
    ("summed", "expected"),
    [
        (f"%x1 = tile.mul %w, %u : {WEIGHT}", True),
        (f"%x1 = tile.mul %u, %w : {WEIGHT}", True),
        (f"%x2 = tile.mul %u, %w : {WEIGHT}\n%x1 = tile.mul %v, %x2 : {WEIGHT}", True),
        (f"{OF_SUM}%x1 = tile.mul %w, %o : {WEIGHT}", False),
        (f"{OF_SUM}%x1 = tile.mul %o, %w : {WEIGHT}", False),
        (f"%x1 = tile.mul %w, %w : {WEIGHT}", False),  # twice divided by the maximum
        (f"%x1 = tile.mul %w, %by : {WEIGHT}", False),
        (f"%x1 = tile.mul %u, %v : {WEIGHT}", False),  # not divided by it
        (f"%x1 = tile.add %w, %u : {WEIGHT}", False),
    ],
)
def test_powers_times_what_no_visit_before_has_to_do_with(summed: str, expected: bool) -> None:
    text = ONLINE.format(exponent=PLAIN, least="-1.0e+30", by="grown")
    text = text.replace("%t = tile.reduce add %w [0]", f"{summed}\n%t = tile.reduce add %x1 [0]")
    assert is_blind_to_visits(only(kopt.parse(text), ForOp)) is expected


@pytest.mark.parametrize(("other", "expected"), [("%nothing", True), ("%one", False), ("%u", False), ("%v", False)])
def test_powers_that_a_mask_keeps(other: str, expected: bool) -> None:
    """Those left out are 0, whatever maximum the others are divided by."""
    type = "!tile.tile<b1=16 x 64 x f32>"
    chosen = f"""%nothing = tile.full 0.0 : {type}
      %one = tile.full 1.0 : {type}
      %p = tile.load %y[%k] : memref<96xi1> -> !tile.tile<b1=16 x i1>
      %q = tile.broadcast %p dims [0] : !tile.tile<b1=16 x i1> to !tile.tile<b1=16 x 64 x i1>
      %w = tile.select %q, %all, {other} : {type}
      %t ="""
    text = ONLINE.replace("%w = ", "%all = ").replace("%t =", chosen)
    module = kopt.parse(text.format(exponent=PLAIN, least="-inf", by="grown"))
    assert is_blind_to_visits(only(module, ForOp)) is expected


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


WIDER = """
func.func @f(%x: memref<96x64xf32>, %c: memref<8x16xf32>, %d: memref<16x64xf32>, %out: memref<8x64xf32>) {{
  tile.grid (%i: b0=1) in (1) {{
    %z = tile.full 0.0 : !tile.tile<8 x 64 x f32>
    %p = tile.load %c[:, :] : memref<8x16xf32> -> !tile.tile<8 x 16 x f32>
    %q = tile.load %d[:, :] : memref<16x64xf32> -> !tile.tile<16 x 64 x f32>
    %r = tile.for %k: b1=16 in (0, 96) iter(%a = %z) -> (!tile.tile<8 x 64 x f32>) {{
      %v = tile.load %x[%k, :] : memref<96x64xf32> -> !tile.tile<b1=16 x 64 x f32>
      %one = tile.full 1.0 : !tile.tile<8 x b1=16 x f32>
      {body}
      tile.yield %n : !tile.tile<8 x 64 x f32>
    }}
    tile.store %r, %out[:, :] : !tile.tile<8 x 64 x f32>, memref<8x64xf32>
  }}
  func.return
}}
"""
BLOCK, SUMS = "!tile.tile<b1=16 x 64 x f32>", "!tile.tile<8 x 64 x f32>"
SPREAD = f"%w = tile.broadcast %t dims [1] : !tile.tile<64 x f32> to {SUMS}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (f"%n = tile.dot %one, %v, %a : !tile.tile<8 x b1=16 x f32>, {BLOCK} -> {SUMS}", True),
        (f"%n = tile.dot %p, %q, %a : !tile.tile<8 x 16 x f32>, !tile.tile<16 x 64 x f32> -> {SUMS}", False),
        (f"%t = tile.dot %one, %v : !tile.tile<8 x b1=16 x f32>, {BLOCK} -> {SUMS}\n"
         f"%n = tile.add %a, %t : {SUMS}", True),
        (f"%t = tile.dot %p, %q : !tile.tile<8 x 16 x f32>, !tile.tile<16 x 64 x f32> -> {SUMS}\n"
         f"%n = tile.add %a, %t : {SUMS}", False),
        (f"%t = tile.dot %one, %v : !tile.tile<8 x b1=16 x f32>, {BLOCK} -> {SUMS}\n"
         f"%n = tile.mul %a, %t : {SUMS}", False),
        (f"{SUM}{SPREAD}%n = tile.add %a, %w : {SUMS}", True),
        (f"{SUM}{SPREAD}%n = tile.maximum %a, %w : {SUMS}", False),
        (f"{SUM}{SPREAD}%n = tile.add %a, %a : {SUMS}", False),
    ],
)  # fmt: skip
def test_products_and_sums_that_are_spread(body: str, expected: bool) -> None:
    """What does not depend on the block is added once a visit, so that the number of visits counts."""
    assert is_blind_to_visits(only(kopt.parse(WIDER.format(body=body)), ForOp)) is expected


@pytest.mark.parametrize(("entry", "expected"), [("%k", True), ("0:16", False)])
def test_what_is_set_apart_excuses_nothing_else(entry: str, expected: bool) -> None:
    """A store that stands behind it is looked at."""
    apart = "tile.store %half, %out[:] : !tile.tile<64 x f32>, memref<64xf32>\n"
    type = "!tile.tile<b1=16 x 64 x f32>" if entry == "%k" else "!tile.tile<16 x 64 x f32>"
    behind = f"%w = tile.full 1.0 : {type}\ntile.store %w, %y[{entry}, :] : {type}, memref<96x64xf32>"
    loop = only(kopt.parse(LOOP.format(body=SUM + ADD + apart + behind)), ForOp)
    first, _ = walk(loop, StoreOp)
    assert is_blind_to_visits(loop, first) is expected and not is_blind_to_visits(loop)
