"""Numbers of tensors that a kernel makes on the host, read while it is imported."""

from __future__ import annotations

import pytest
import torch

import kopt.language as hl
from kopt.errors import KoptError

from .support import reference

X = torch.randn(8, 16)
MADE = {
    "full": lambda: torch.full((), 3),
    "ones": lambda: torch.ones([2, 2], dtype=torch.int32).sum() - 1,
    "zeros": lambda: torch.zeros([2])[0] + 3,
    "arange": lambda: torch.arange(5)[3],
}


def scaled(make):
    def kernel(x):
        by = make().item()
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = x[i, :] * by
        return out

    return kernel


@pytest.mark.parametrize("name", MADE)
def test_what_is_filled_is_known(name: str) -> None:
    torch.testing.assert_close(reference(scaled(MADE[name]), X), X * 3)


def test_what_is_empty_is_not() -> None:
    with pytest.raises(KoptError):
        reference(scaled(lambda: torch.empty(())), X)
