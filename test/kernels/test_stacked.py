"""Tiles that are stacked: each comes to its own place, along each dimension, by joins of two and by selects."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]


@kopt.kernel
def stacked(x, number: hl.constexpr, dim: hl.constexpr):
    """Multiples of rows and columns, stacked, with their dimensions merged."""
    size = number * x.size(1)
    out = torch.empty([x.size(0), size], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        block = x[i, :]
        made = torch.stack([block * n + n for n in range(1, number + 1)], dim)
        out[i, :] = made.reshape([i, size])
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dim", [1, 2])
@pytest.mark.parametrize("number", [2, 3, 8])
def test_each_comes_to_its_place(target: str, dim: int, number: int) -> None:
    x = torch.randint(-99, 99, (5, 16)).float()
    wanted = torch.stack([x * n + n for n in range(1, number + 1)], dim).reshape(5, -1)
    torch.testing.assert_close(stacked.on(target)(x, number, dim), wanted, rtol=0, atol=0)


def test_powers_of_two_are_joined() -> None:
    joins = {n: stacked.lower("f32[5,16]", n, 2, target="triton:sm90").source.count("tl.join(") for n in (2, 3, 8)}
    assert joins == {2: 1, 3: 0, 8: 7}
