"""Which dimensions of a call's grid cores may share, by what its grid says and by what its outputs move with."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import kopt
from kopt.dialects.tile import GridOp
from kopt.passes.binding.semantics import semantics
from test.named import only

P, A = "parallel", "arbitrary"
#: What follows the extents, the dimensions that each output's block moves with, and what each dimension is.
CASES = [
    ("", [{0, 1, 2}], [P, P, P]),
    ("", [], [P, P, P]),
    ("", [{0, 2}], [P, A, A]),
    ("", [{1, 2}], [A, A, A]),
    ("", [{0, 1, 2}, {0, 1}], [P, P, A]),
    ("reduce [2]", [{0, 1, 2}], [P, P, A]),
    ("reduce [1]", [{0, 1, 2}], [P, A, A]),
    ("ordered [0]", [{0, 1, 2}], [A, A, A]),
    ("ordered [1]", [{0, 1, 2}], [P, A, A]),
    ("plan {order [i, j, k] parallel [i]}", [{0, 1, 2}], [P, A, A]),
    ("plan {order [i, j, k] parallel [i, k]}", [{0, 1, 2}], [P, A, A]),
]


@pytest.mark.parametrize(("rest", "outputs", "words"), CASES)
def test_dimensions_that_may_run_in_any_order(rest: str, outputs: list[set[int]], words: list[str]) -> None:
    text = f"func.func @f() {{ tile.grid (%i: i=8, %j: j=8, %k: k=8) in (16, 16, 16) {rest} {{ }} func.return }}"
    moving: Any = [SimpleNamespace(window=SimpleNamespace(moves_with=each.__contains__)) for each in outputs]
    assert semantics(only(kopt.parse(text), GridOp), moving) == words
