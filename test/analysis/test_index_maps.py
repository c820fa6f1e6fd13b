"""Which indices of windows differ from cell to cell."""

from __future__ import annotations

import pytest
from xdsl.ir.affine import AffineExpr

from kopt.analysis.index_maps import is_injective, used_dims

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
