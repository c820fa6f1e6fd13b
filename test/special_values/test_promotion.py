"""Integers beside narrow floats: they are rounded to the floats' dtype before anything is computed, as in torch."""

from __future__ import annotations

import pytest
import torch

from test.special_values.kernels import results
from test.special_values.values import value

CALLS = (
    "x + y", "y - x", "x * y", "y / x", "x < y", "y == x", "torch.maximum(x, y)", "torch.fmin(y, x)",
    "torch.remainder(y, x)", "torch.copysign(y, x)", "torch.where(x > 0, x, y)",
)  # fmt: skip
NUMBERS = (0, 1, -3, 257, 259, -513, 2049, 2051, 65503, 65504, 65519, 65520, -70000, 2**24 + 1, 2**31 - 1, -(2**31) + 1)


@pytest.mark.parametrize("target", ["reference", "pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_integers_become_narrow_floats(dtype: torch.dtype, target: str, tmp_path) -> None:
    """Those that it rounds, and those that are infinite in it."""
    y = torch.tensor(NUMBERS, dtype=torch.int32)
    x = torch.cat([y.roll(1).to(dtype), torch.full_like(y, 256, dtype=dtype), torch.full_like(y, 1, dtype=dtype)])
    y = y.repeat(3)
    wanted = [value(call, (x, y, y)) for call in CALLS]
    found = results(CALLS, [each.dtype for each in wanted], (x, y, y), target, tmp_path)
    for call, got, right in zip(CALLS, found, wanted, strict=True):
        same = (got == right) | (got.isnan() & right.isnan())
        assert same.all(), (call, x[~same][:4], y[~same][:4], got[~same][:4], right[~same][:4])
