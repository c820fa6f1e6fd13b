"""Results that the host reduces to one number: the kernel has it at the end, and gives what torch gives."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

REDUCTIONS = {"mean": torch.mean, "sum": torch.sum, "max": torch.max, "min": torch.min}


def row_norms(reduce):
    """A kernel whose rows each give a number, in blocks of fewer than 128, and what the host makes of these."""

    @kopt.kernel
    def kernel(x):
        rows, _ = x.size()
        norms = torch.empty([rows], dtype=torch.float32)
        for i in hl.tile(rows, block_size=32):
            norms[i] = (x[i, :] * x[i, :]).sum(-1)
        return reduce(norms)

    return kernel


@pytest.mark.parametrize("target", ["pallas:interpret", "pallas:strict"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_one_number(name: str, target: str) -> None:
    x = torch.randn(128, 40, generator=torch.Generator().manual_seed(3))
    kernel = row_norms(REDUCTIONS[name])
    lowered = kernel.lower(x, target="pallas:v6e")
    assert "@pl.when(i == 3)" in lowered.source and "jax.ShapeDtypeStruct((1,), jnp.float32)" in lowered.source
    torch.testing.assert_close(kernel.on(target)(x), REDUCTIONS[name](x.square().sum(-1)))


def test_numbers_that_are_none() -> None:
    """NaN is the greatest and the least, as torch has it."""
    x = torch.randn(64, 40, generator=torch.Generator().manual_seed(4))
    x[40, 7] = torch.nan
    assert all(row_norms(reduce).on("pallas:interpret")(x).isnan() for reduce in REDUCTIONS.values())


def test_two_cores_have_their_own_rows() -> None:
    """On v5p cells are shared by two cores: no cell is the last one of all."""
    source = row_norms(torch.mean).lower(torch.zeros(1024, 40), target="pallas:v5p").source
    assert "jnp.mean(" in source and "jnp.sum(norms" not in source
