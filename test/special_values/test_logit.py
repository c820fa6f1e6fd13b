"""``logit`` of narrow floats: to the bit what torch gives, which rounds each of its steps."""

from __future__ import annotations

import math

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "pallas:interpret", "triton:interpret")


@kopt.kernel
def logits(x, eps: float):
    """With the numbers near 0 and 1 moved away from them."""
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = torch.logit(x[i], eps)
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("eps", [0.1, 1e-3])
def test_logit_of_narrow_floats(eps: float, dtype: torch.dtype, target: str) -> None:
    """``eps`` and ``1 - eps`` are of the dtype, too; without rounding between the steps other numbers come out."""
    x = torch.cat([torch.arange(-128, 641) / 512, torch.tensor([math.inf, -math.inf])]).to(dtype)
    got, wanted = logits.on(target)(x, eps), torch.logit(x, eps)
    assert torch.equal(got, wanted), x[got != wanted][:5]
    assert not torch.equal(wanted, torch.logit(x.float(), eps).to(dtype))
