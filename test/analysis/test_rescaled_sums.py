"""Sums that a running maximum rescales: which values are the exponents of what is summed."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.rescaled_sums import masked_by_exponents
from kopt.dialects.tile import ForOp

V = "!tile.tile<b0=8 x b1=128 x f32>"
C = "!tile.tile<b0=8 x f32>"
W = "!tile.tile<b1=128 x 16 x f32>"
S = "!tile.tile<b0=8 x 16 x f32>"
TEXT = f"""
func.func @f(%x: memref<64x1024xf32>, %y: memref<1024x16xf32>, %out: memref<64x16xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %low = tile.full -1.0e30 : {C}
    %zero = tile.full 0.0 : {S}
    %largest, %sum = tile.for %k: b1=128 in (0, 1024) iter(%m = %low, %s = %zero) -> ({C}, {S}) {{
      %v = tile.load %x[%i, %k] : memref<64x1024xf32> -> {V}
      %r = tile.reduce max %v [1] : {V}
      %n = tile.maximum %m, %r : {C}
      %b = tile.broadcast %n dims [0] : {C} to {V}
      %d = tile.sub %v, %b : {V}
      %p = tile.exp %d : {V}
      %c = tile.sub %m, %n : {C}
      %a = tile.exp %c : {C}
      %ab = tile.broadcast %a dims [0] : {C} to {S}
      %kept = tile.mul %s, %ab : {S}
      %w = tile.load %y[%k, :] : memref<1024x16xf32> -> {W}
      %twice = tile.add %w, %w : {W}
      %less = tile.sub %w, %twice : {W}
      %u = VALUES
      %t = tile.dot %p, %u, %kept : {V}, {W} -> {S}
      tile.yield %n, %t : {C}, {S}
    }}
    tile.store %sum, %out[%i, :] : {S}, memref<64x16xf32>
  }}
  func.return
}}
"""


def found_with(values: str) -> dict[str | None, set[tuple[str, int]]]:
    """The exponents of the kernel's sums, and the operands that they mask."""
    module = kopt.parse(TEXT.replace("VALUES", values))
    loop = next(op for op in module.walk() if isinstance(op, ForOp))
    return {
        exponent.name_hint: {(op.name, number) for op, number in places}
        for exponent, places in masked_by_exponents(loop).items()
    }


@pytest.mark.parametrize(
    "values", ["tile.neg %w", "tile.exp %w", "tile.exp2 %twice", "tile.exp %less", "tile.sqrt %less"]
)
def test_exponents_are_what_the_maximum_is_taken_of(values: str) -> None:
    """Whatever powers the other operand of a product has: those are of other exponents."""
    assert found_with(f"{values} : {W}") == {"v": {("tile.reduce", 0), ("tile.dot", 0)}}


def test_no_sum_is_rescaled_whose_terms_an_inner_loop_makes_of_the_sum_so_far() -> None:
    """What the loop begins with has nothing to do with it, and what its body uses has."""
    body = f"""
        %g = tile.reduce max %s [0] : {S}
        %h = tile.broadcast %g dims [1] : !tile.tile<16 x f32> to {W}
        %e = tile.add %z, %h : {W}
        tile.yield %e : {W}
    """
    assert found_with(f"tile.for %j: b2=1 in (0, 2) iter(%z = %w) -> ({W}) {{{body}}}") == {}
