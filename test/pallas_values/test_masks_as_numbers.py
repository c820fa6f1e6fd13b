"""Masks that become floats: their products with NaN and infinity are NaN, which XLA makes 0 of where it may."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

ODD = torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, -1.0, 2.0, 0.5])


def _same(got: torch.Tensor, wanted: torch.Tensor) -> bool:
    return bool(((got == wanted) & (got.signbit() == wanted.signbit()) | got.isnan() & wanted.isnan()).all())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_products_in_kernels(dtype: torch.dtype) -> None:
    def masked(x, y):
        out = torch.empty([4, x.size(0)], dtype=x.dtype)
        for i in hl.tile(x.size(0), block_size=4):
            mask = y[i] > 0
            out[0, i] = x[i] * mask.to(x.dtype)
            out[1, i] = mask * x[i]
            out[2, i] = mask.to(x.dtype) / (x[i] * 0)
            out[3, i] = torch.where(mask.float() * float("nan") != 0, 1.0, 0.0).to(x.dtype)
        return out

    x, y = ODD.to(dtype), torch.tensor([0, 0, 0, 0, 0, 1, 1])
    assert _same(kopt.kernel(masked).on("pallas:interpret")(x, y), kopt.kernel(masked).on("eager")(x, y))


def test_products_of_host_tensors() -> None:
    def masked(x, y):
        mask = y > 0
        both = torch.stack([mask.float() * x, x * mask, mask / (x * 0)])
        out = torch.empty_like(both)
        for i in hl.tile(x.size(0), block_size=4):
            out[:, i] = both[:, i]
        return out

    y = torch.tensor([0, 0, 0, 0, 0, 1, 1])
    assert _same(kopt.kernel(masked).on("pallas:interpret")(ODD, y), kopt.kernel(masked).on("eager")(ODD, y))
