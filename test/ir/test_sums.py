"""Sums of values: the same numbers in the low bits, made of values that there are, and of terms that add up."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.ir import SSAValue

import kopt
from kopt.dialects.tile import Access, IndexOp, ReshapeOp, TileType, is_gather
from kopt.interpreter.values import TileValue
from kopt.ir.atoms import BlockNumber, Lane, Symbol
from kopt.ir.index_expr import ZERO, IndexExpr, lane, number
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.runs import strided
from kopt.ir.sums import SumAnalysis
from test.ir.expressions import cases, evaluated
from test.ir.kernels import Visit, arguments, kernels, run


def test_random_index_tiles() -> None:
    """Five hundred index tiles: what their sums hold in 32 bits, and what their terms add up to."""
    analyses: dict[Access, SumAnalysis] = {}
    seen = {"more than a name": 0, "with lanes of a range": 0}

    def look(op: Access, visit: Visit) -> None:
        sums = analyses.setdefault(op, SumAnalysis())
        for entry in op.entries:
            if isinstance(entry, SSAValue) and is_gather(entry):
                expr, held = sums.expr(entry), visit.machine[entry]
                assert isinstance(entry.type, TileType) and isinstance(held, TileValue)
                (found,) = visit.lanes(expr)
                assert (found.astype(np.int32) == held.data).all(), str(expr)
                assert all(isinstance(atom, BlockNumber | Lane | Symbol) for atom in expr.terms)
                terms, const = sums.terms(expr, entry.type.dims.data, ranges_in_scope(op))
                assert sum((term.expr for term in terms), number(const)) == expr
                seen["more than a name"] += len(expr.terms) > 1
                seen["with lanes of a range"] += any(term.dim is not None for term in terms)

    for text in kernels(40, 5, seed=3):
        run(kopt.parse(text), arguments(), look, most=2)
    assert min(seen.values()) > 20, seen


def test_lanes_of_one_dimension() -> None:
    """What is the same along a dimension, and the step from lane to lane."""
    steps = set()
    for case in cases(1000, seed=41):
        for dim, size in ((0, 4), (1, 6)):
            found = strided(case.expr, dim)
            if found is not None:
                assert dim not in found.start.along
                assert (evaluated(found.start + lane(dim, size) * found.step) == case.value).all(), str(case.expr)
                steps.add(found.step)
            else:
                assert dim in case.expr.along
    assert {0, 1, 2, -1} <= steps


TEXT = """
func.func @f(%x: memref<4096xf32>, %at: memref<40xi32>, %first: index, %last: index) {
  tile.grid (%i: b0=16) in (40) {
    %n = tile.load %at[%i] : memref<40xi32> -> !tile.tile<b0=16 x i32>
    %two = tile.full 2 : !tile.tile<b0=16 x i32>
    %big = tile.full 1073741824 : !tile.tile<b0=16 x i32>
    %half = tile.floordiv %n, %two : !tile.tile<b0=16 x i32>
    %twice = tile.mul %half, %two : !tile.tile<b0=16 x i32>
    %large = tile.mul %n, %big : !tile.tile<b0=16 x i32>
    %rounded = tile.floordiv %large, %two : !tile.tile<b0=16 x i32>
    %lanes = tile.index %i : !tile.range<b0=16>
    %plain = tile.reshape %lanes : !tile.tile<b0=16 x i32> to !tile.tile<16 x i32>
    tile.for %k: b1=8 in (%first, %last) {
      %row = tile.index %k : !tile.range<b1=8>
    }
  }
  func.return
}
"""


@pytest.fixture
def values() -> dict[str, SSAValue]:
    return {value.name_hint: value for op in kopt.parse(TEXT).walk() for value in op.results if value.name_hint}


def test_what_is_rounded_keeps_its_name(values: dict[str, SSAValue]) -> None:
    sums = SumAnalysis()
    assert sums.expr(values["twice"]) == sums.expr(values["half"]) * 2
    atom = sums.expr(values["half"]).atom
    assert isinstance(atom, Symbol) and atom.name is values["half"]
    assert atom.range == sums.exact.range(values["half"])


def test_sums_do_not_wrap_but_what_is_made_of_them_may(values: dict[str, SSAValue]) -> None:
    """The quotient of a product that wraps is known by its name alone."""
    sums = SumAnalysis()
    assert sums.expr(values["large"]) == sums.expr(values["n"]) * (1 << 30)
    atom = sums.expr(values["rounded"]).atom
    assert isinstance(atom, Symbol) and atom.name is values["rounded"]


def test_lanes_of_a_range_without_its_tag_keep_their_name(values: dict[str, SSAValue]) -> None:
    """Those of the last block are not all valid, which nothing would tell."""
    sums, plain = SumAnalysis(), values["plain"]
    assert isinstance(plain.owner, ReshapeOp) and isinstance(values["lanes"].owner, IndexOp)
    assert sums.expr(values["lanes"]) == sums.lanes(values["lanes"].owner.range)
    atom = sums.expr(plain).atom
    assert isinstance(atom, Symbol) and atom.name is plain
    assert sums.expr(plain) - sums.expr(plain) == ZERO and isinstance(sums.expr(plain), IndexExpr)


@pytest.mark.parametrize("more", [0, 1, 4], ids=lambda more: f"{more} begins more")
def test_lanes_are_told_from_the_begin_of_their_loop(values: dict[str, SSAValue], more: int) -> None:
    """What is counted is the lanes: where a loop begins may be added more often, be it first in the sum."""
    sums, row = SumAnalysis(), values["row"]
    assert isinstance(row.owner, IndexOp) and isinstance(row.type, TileType)
    lanes = sums.lanes(row.owner.range, 0)
    begin = next(IndexExpr(0, {atom: 1}) for atom in lanes.terms if isinstance(atom, Symbol))
    terms, const = sums.terms(begin * more + lanes * 3, row.type.dims.data, ranges_in_scope(row.owner))
    assert [(term.counted, term.factor) for term in terms if term.dim == 0] == [(lanes, 3)]
    assert [(term.counted, term.factor) for term in terms if term.dim is None] == [(begin, more)] * (more > 0)
    assert const == 0
