"""Loops walk from one bound to another: neither fewer nor more."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.utils.exceptions import VerifyException

import kopt
from kopt.dialects.tile import ForOp
from test.named import only

TEXT = """
func.func @f() {
  tile.grid (%i: b0=4) in (8) {
    tile.for %k: b1=4 in (0, 8) {
    }
  }
  func.return
}
"""


@pytest.mark.parametrize("bounds", [[], [0], [0, 8], [0, 8, 16]], ids=len)
def test_two_bounds(bounds: list[int]) -> None:
    loop = only(kopt.parse(TEXT), ForOp)
    loop.properties["static_bounds"] = DenseArrayBase.from_list(i64, bounds)
    if len(bounds) == 2:
        loop.verify()
    else:
        with pytest.raises(VerifyException, match="walks from one bound to another"):
            loop.verify()
