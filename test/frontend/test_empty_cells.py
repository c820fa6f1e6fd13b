"""Variables of a kernel's closure that have no value yet."""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl


def made():
    """A kernel that names a variable which is bound after it is handed out."""

    def kernel(x):
        out = torch.empty_like(x)
        for tile in hl.tile(x.size(0)):
            out[tile] = x[tile] * factor
        return out if len(x.shape) == 1 else never

    factor = 2.0
    return kernel
    never = None


def test_a_variable_that_nobody_reads_may_be_missing() -> None:
    x = torch.ones(5)
    kernel = kopt.kernel(made())
    assert torch.equal(kernel.on("reference")(x), x * 2) and torch.equal(kernel.on("reference")(x), x * 2)
