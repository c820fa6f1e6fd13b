"""Operations that cancel over the real numbers, and not in floats: XLA's simplifications must not reach a kernel."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

#: No step gives a subnormal number, which is 0 on these targets.
X = torch.tensor([200.0, -80.0, 1.0, 1e30, -1e30, 0.0, -3.5, 0.3, float("inf"), float("nan")])
FORMULAS = {
    "a constant added and taken away": lambda v: (v + 12582912.0) - 12582912.0,
    "a factor and its inverse": lambda v: (v * 1e30) * 1e-30,
    "two factors": lambda v: v * 2e38 * 4.0 * 0.125,
    "a logarithm of an exponential": lambda v: v.exp().log(),
    "a decimal one": lambda v: v.exp2().log10(),
    "a quotient of equals": lambda v: v.exp() / v.exp(),
    "a product of exponentials": lambda v: v.exp() * (v * -1.5).exp(),
    "a power of an exponential": lambda v: (v * 4).exp().pow(0.25),
}


def formulas(x):
    """Every formula of the elements."""
    out = torch.empty([len(FORMULAS), x.size(0)])
    for tile in hl.tile(x.size(0)):
        for number, formula in enumerate(FORMULAS.values()):
            out[number, tile] = formula(x[tile])
    return out


@pytest.mark.parametrize("target", ["pallas:interpret", "pallas:strict"])
def test_every_operation_rounds(target: str) -> None:
    wanted = torch.stack([formula(X) for formula in FORMULAS.values()])
    got = kopt.kernel(formulas, config={"block_sizes": [16]}).on(target)(X)
    torch.testing.assert_close(got, wanted, equal_nan=True, rtol=1e-5, atol=0)
