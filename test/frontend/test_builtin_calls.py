"""Python's own functions of device values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt.language as hl

from .support import reference

X = torch.randn(8, 16)


@pytest.mark.parametrize(
    "summed",
    [
        lambda v: sum([v, v * 2]),
        lambda v: sum([v, v * 2], 0),
        lambda v: sum([v, v * 2], 5),
        lambda v: sum([v, v * 2], 0.5),
        lambda v: sum([v, v * 2], v + 1),
        lambda v: sum((1, 2), v),
        lambda v: sum([v], start=-3),
        lambda v: v + sum([]) + sum([2, 3], 4),
    ],
    ids=range(8),
)
def test_sums_of_lists_from_a_start(summed: Callable[[Any], Any]) -> None:
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = summed(x[i, :])
        return out

    torch.testing.assert_close(reference(kernel, X), summed(X))
