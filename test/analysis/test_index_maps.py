"""Which indices of windows differ from cell to cell."""

from __future__ import annotations

import pytest
from xdsl.ir.affine import AffineExpr

from kopt.analysis.index_maps import divisor, is_injective, used_dims

I, J = AffineExpr.dimension(0), AffineExpr.dimension(1)


@pytest.mark.parametrize(
    ("index", "injective"),
    [
        (I, True),
        (J, True),
        (I * 2 + 1, True),
        (AffineExpr.constant(3), False),
        (I + J, False),
        (I * 8 + J, False),
        (I // 2, False),
        (I % 3, False),
        (I + I % 3, False),
        (I + I // 2, False),
    ],
)
def test_a_block_for_each_number_of_one_dimension(index: AffineExpr, injective: bool) -> None:
    assert is_injective(index) is injective


def test_dimensions_that_indices_use() -> None:
    assert used_dims([I, AffineExpr.constant(3)]) == {0}
    assert used_dims([I % 2, J + 1]) == {0, 1} and used_dims([]) == set()


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (AffineExpr.constant(0), 0),
        (AffineExpr.constant(-6), 6),
        (AffineExpr.dimension(0), 1),
        (AffineExpr.dimension(0) * 12 + AffineExpr.dimension(1) * 18, 6),
        (AffineExpr.dimension(0) * 4 + 8, 4),
        (AffineExpr.dimension(0) * 8 // 4, 1),  # what a quotient is, nobody says
    ],
)
def test_what_divides_an_index(index: AffineExpr, expected: int) -> None:
    assert divisor(index) == expected
