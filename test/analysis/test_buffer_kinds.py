"""Which numbers of elements come again and again."""

from __future__ import annotations

import pytest
from xdsl.ir.affine import AffineExpr

from kopt.analysis.buffer_kinds import _comes_again
from kopt.analysis.windows import Dim

CELL = AffineExpr.dimension(0)


@pytest.mark.parametrize(
    ("index", "comes_again"),
    [(CELL % 1024, True), (CELL, False), (CELL // 4, False), (CELL + 3, False), (AffineExpr.constant(0), False)],
    ids=str,
)
def test_an_element_after_the_other(index: AffineExpr, comes_again: bool) -> None:
    assert _comes_again(Dim("block", 1, index)) is comes_again
