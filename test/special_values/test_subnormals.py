"""Numbers below the smallest normal one, on each target as docs/targets.md says."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TINY = torch.finfo(torch.float32).smallest_normal
#: Pairs of a call's operand, and of what has to be multiplied to make a subnormal result.
SMALL = torch.tensor([TINY / 2, -TINY / 4, 2.0**-149, TINY, 2 * TINY, -1e-20])


@kopt.kernel
def products(x, y):
    """Results and operands below the smallest normal number."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] * y[i]
    return out


@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_they_are_kept(target: str) -> None:
    """As torch keeps them."""
    for factor in (1.0, 0.5, 3.0, 1e20):
        y = torch.full_like(SMALL, factor)
        assert torch.equal(products.on(target)(SMALL, y), SMALL * y)


def test_they_are_zero() -> None:
    """XLA on a CPU takes and gives 0 for them, with their sign."""
    for factor in (1.0, 0.5, 3.0, 1e20):
        y = torch.full_like(SMALL, factor)
        got = products.on("pallas:interpret")(SMALL, y)
        normal = torch.where(SMALL.abs() < TINY, 0 * SMALL, SMALL)
        wanted = normal * y
        wanted = torch.where(wanted.abs() < TINY, 0 * wanted, wanted)
        kept = (got == SMALL) & (factor == 1.0)  # x * 1 is left out
        assert ((got == wanted) | kept).all(), (got, wanted)
        assert torch.equal(got.signbit(), wanted.signbit())
