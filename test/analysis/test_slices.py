"""Sums of lanes as slices: rows that follow one another, flat storage taken apart."""

from __future__ import annotations

import pytest
from xdsl.ir import SSAValue

from kopt.analysis.slices import NotSlices, Slicing, extent_walked
from kopt.dialects.tile import LoadOp, TileType
from kopt.ir.index_expr import ZERO, IndexExpr, number
from kopt.ir.sums import SumAnalysis
from kopt.parsing import parse_module

BODY = """
func.func @f(%x: memref<800xf32>, %begins: memref<6xi64>) {{
  tile.grid (%b: b0=4, %m: b1=16, %q: b2=8) in (6, 20, 40) {{
    %starts = tile.load %begins[%b] : memref<6xi64> -> !tile.tile<b0=4 x i64>
    %s = tile.reshape %starts : !tile.tile<b0=4 x i64> to !tile.tile<b0=4 x 1 x i64>
    %sb = tile.broadcast %s dims [0, 1] : !tile.tile<b0=4 x 1 x i64> to !tile.tile<b0=4 x b1=16 x i64>
    %i = tile.index %m : !tile.range<b1=16>
    %w = tile.cast %i : !tile.tile<b1=16 x i32> to !tile.tile<b1=16 x i64>
    %ib = tile.broadcast %w dims [1] : !tile.tile<b1=16 x i64> to !tile.tile<b0=4 x b1=16 x i64>
    %c = tile.full {number} : !tile.tile<b0=4 x b1=16 x i64>
    %scaled = tile.mul %sb, %c : !tile.tile<b0=4 x b1=16 x i64>
    %at = tile.add %scaled, %ib : !tile.tile<b0=4 x b1=16 x i64>
    %v = tile.load %x[%at] : memref<800xf32> -> !tile.tile<b0=4 x b1=16 x f32>
  }}
  func.return
}}
"""


def sliced(factor: int) -> tuple[Slicing, IndexExpr]:
    """Elements ``factor · starts along (0) + m along (1)``."""
    module = parse_module(BODY.format(number=factor))
    load = [op for op in module.walk() if isinstance(op, LoadOp)][-1]
    index, sums = load.indices[0], SumAnalysis()
    assert isinstance(index.type, TileType)
    return Slicing(load, index.type.dims.data, sums), sums.expr(index)


def test_lanes_of_a_range_are_one_term() -> None:
    slicing, expr = sliced(20)
    terms, const = slicing.terms(expr)
    assert [(term.factor, term.dim) for term in terms] == [(1, 1), (20, None)] and const == 0
    assert terms[0].range is not None and terms[0].range.name_hint == "m"
    assert terms[0].expr + terms[1].expr == expr


def test_one_dimension_of_rows() -> None:
    slicing, expr = sliced(1)
    part = slicing.part(expr)
    assert part.range is not None and part.range.name_hint == "m" and (part.dim, part.dims) == (1, (0,))


@pytest.mark.parametrize(("factor", "shape"), [(20, [40, 20]), (1, [800]), (400, [2, 400])])
def test_rows_follow_from_coefficients(factor: int, shape: list[int]) -> None:
    slicing, expr = sliced(factor)
    assert slicing.inferred_shape(expr, 800) == shape


def test_rows_of_no_whole_number() -> None:
    slicing, expr = sliced(30)
    with pytest.raises(NotSlices, match="no whole number of rows of 30"):
        slicing.inferred_shape(expr, 800)


@pytest.mark.parametrize("const", [0, 20, 45, -40])
def test_constants_are_taken_apart(const: int) -> None:
    """Whole rows go to the first dimension; what is left must keep the lanes inside a row, which 5 more does not."""
    slicing, expr = sliced(20)
    lanes = slicing.terms(expr)[0][0].expr + const
    if const % 20:
        with pytest.raises(NotSlices, match="'m' is not known to stay below 20"):
            slicing.digits(lanes, [40, 20])
    else:
        rows, columns = slicing.digits(lanes, [40, 20])
        assert rows.added == number(const // 20) and columns.range is not None and columns.added == ZERO


def test_what_lanes_stay_below_by_accesses_that_surely_run() -> None:
    """Those around an op: none of a branch that it is not in, none with a mask."""
    module = parse_module("""
func.func @f(%x: memref<30xf32>, %y: memref<25xf32>, %z: memref<20xf32>, %c: i1) {
  tile.grid (%m: b0=16) in (20) {
    %v = tile.load %x[%m] : memref<30xf32> -> !tile.tile<b0=16 x f32>
    scf.if %c {
      %w = tile.load %y[%m] : memref<25xf32> -> !tile.tile<b0=16 x f32>
    }
    %k = tile.full true : !tile.tile<b0=16 x i1>
    %u = tile.load %z[%m] mask %k : memref<20xf32> -> !tile.tile<b0=16 x f32>
  }
  func.return
}""")
    first, inner, masked = (op for op in module.walk() if isinstance(op, LoadOp))
    range = first.entries[0]
    assert isinstance(range, SSAValue)
    assert [extent_walked(range, op) for op in (first, inner, masked)] == [30, 25, 30]
