"""Python's operators between a tensor of one number and a device value: in either order as torch's own."""

from __future__ import annotations

import operator

import pytest
import torch

import kopt.language as hl

from .support import check

X = torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=torch.int32)
TWO = torch.tensor(2, dtype=torch.int32)
OPERATORS = [
    *(operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.truediv),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
]


def both_orders(x, two, of):
    out = x.new_empty(2, 2, 3, dtype=torch.float32)
    for tile in hl.tile(x.size(0)):
        out[0, tile, :] = of(two, x[tile, :]).float()
        out[1, tile, :] = of(x[tile, :], two).float()
    return out


@pytest.mark.parametrize("of", OPERATORS, ids=lambda of: of.__name__)
def test_as_torch(of) -> None:
    check(both_orders, [X, TWO, of], torch.stack([of(TWO, X), of(X, TWO)]).float())
