"""Integer tiles as sums of lanes, and index tiles as slices."""

from __future__ import annotations

import pytest

from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.slices import NotSlices, digits, inferred_shape, part_of
from kopt.dialects.tile import LoadOp
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


def load_of(number: int) -> LoadOp:
    """Of elements ``number · starts along (0) + m along (1)``."""
    module = parse_module(BODY.format(number=number))
    return [op for op in module.walk() if isinstance(op, LoadOp)][-1]


def form_of(number: int) -> LaneSum:
    return lane_sum(load_of(number).indices[0])


def test_a_sum_of_lanes_and_loaded_numbers() -> None:
    form = form_of(20)
    found = {(atom.name_hint, places): c for (atom, places), c in form.terms.items()}
    assert found == {("starts", (0,)): 20, ("m", (1,)): 1} and form.const == 0


def test_equal_terms_cancel() -> None:
    form = form_of(20)
    assert form - form == LaneSum() and (form + form).times(0) == LaneSum()


def test_one_dimension_of_rows() -> None:
    part = part_of(form_of(1))
    assert part.range is not None and part.range.name_hint == "m" and (part.dim, part.dims) == (1, (0,))


@pytest.mark.parametrize(("number", "shape"), [(20, [40, 20]), (1, [800]), (400, [2, 400])])
def test_rows_follow_from_coefficients(number: int, shape: list[int]) -> None:
    assert inferred_shape(form_of(number), 800) == shape


def test_rows_of_no_whole_number() -> None:
    with pytest.raises(NotSlices, match="no whole number of rows of 30"):
        inferred_shape(form_of(30), 800)


@pytest.mark.parametrize("const", [0, 20, 45, -40])
def test_constants_are_taken_apart(const: int) -> None:
    """Whole rows go to the first dimension; what is left must keep the lanes inside a row, which 5 more does not."""
    form = form_of(20) - LaneSum(0, {k: c for k, c in form_of(20).terms.items() if c == 20}) + LaneSum(const)
    ranges = {placed: c for placed, c in form.terms.items() if placed[1] == (1,)}
    form = LaneSum(form.const, ranges)
    if const % 20:
        with pytest.raises(NotSlices, match="'m' is not known to stay below 20"):
            digits(form, [40, 20], load_of(20))
    else:
        rows, lanes = digits(form, [40, 20], load_of(20))
        assert rows.added == LaneSum(const // 20) and lanes.range is not None
