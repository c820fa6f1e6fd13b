"""Integers of 8 and 16 bits: every op wraps as torch's does, whatever is made of its result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
DTYPES = (torch.int8, torch.uint8, torch.int16)


def _nibbles(x, y):
    return (x << 4) >> 4, x >> 4


def _sums(x, y):
    return ((x + y) >> 1) + (x * y), (x - y) >> 3


def _bits(x, y):
    return ~(x & y) | (x ^ y), (x + y) & 7


def _bounds(x, y):
    return torch.maximum(x + x, y), -torch.minimum(x, y)


def _far_shifts(x, y):
    return ((x << 3) << 6) >> 2, ((x >> 5) >> 2) - y


#: Each takes two tensors of one dtype, and gives two.
CHAINS: dict[str, Callable] = {
    "nibbles": _nibbles,
    "sums": _sums,
    "bits": _bits,
    "bounds": _bounds,
    "far shifts": _far_shifts,
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("chain", CHAINS)
def test_ops_wrap_one_after_the_other(chain: str, dtype: torch.dtype, target: str) -> None:
    """As numbers of their type, and as floats and 32-bit integers that are made of them."""
    compute = CHAINS[chain]

    def kernel(x, y):
        narrow, floats, words = (torch.empty_like(x, dtype=to) for to in (x.dtype, torch.float32, torch.int32))
        for i, j in hl.tile([x.size(0), x.size(1)]):
            first, second = compute(x[i, j], y[i, j])
            narrow[i, j] = first
            floats[i, j] = first.to(torch.float32) + second.to(torch.float32)
            words[i, j] = second.to(torch.int32) * 3
        return narrow, floats, words

    x, y = _numbers(dtype)
    found = kopt.kernel(kernel, target=target)(x, y)
    first, second = compute(x, y)
    wanted = first, first.to(torch.float32) + second.to(torch.float32), second.to(torch.int32) * 3
    for value, truth in zip(found, wanted, strict=True):
        torch.testing.assert_close(value, truth, rtol=0, atol=0)


def _numbers(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs of numbers from end to end of a dtype, beside its ends too."""
    limits = torch.iinfo(dtype)
    generator = torch.Generator().manual_seed(5)
    x, y = (torch.randint(limits.min, limits.max + 1, (9, 130), dtype=dtype, generator=generator) for _ in range(2))
    x[0, :4] = torch.tensor([limits.min, limits.max, 0, 1], dtype=dtype)
    y[0, :4] = torch.tensor([limits.min, limits.max, limits.max, limits.min], dtype=dtype)
    return x, y
