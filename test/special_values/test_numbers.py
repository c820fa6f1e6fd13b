"""Python numbers beside 16-bit values: torch compares with, and divides by, what they are in the values' dtype."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

NUMBERS = (1.1, 0.3, -0.7, 3.3, 100.3, 257)
FUNCTIONS = [torch.gt, torch.ge, torch.lt, torch.le, torch.eq, torch.ne, torch.remainder, torch.fmod]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("open", [(), ("number",)], ids=["constant", "run-time scalar"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numbers_are_of_the_values_dtype(function, open, dtype):
    x = torch.cat([torch.tensor(NUMBERS), torch.linspace(-300, 300, 100)]).to(dtype)
    found = function(x, 1.0).dtype

    @kopt.kernel(target="reference", dynamic=open)
    def kernel(x, number):
        out = torch.empty_like(x, dtype=found)
        for rows in hl.tile(x.size(0)):
            out[rows] = function(x[rows], number)
        return out

    for number in NUMBERS:
        assert torch.equal(kernel(x, number), function(x, number))
