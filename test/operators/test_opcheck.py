"""torch's own checks of custom operators, for every kind of kernel."""

from __future__ import annotations

import pytest
import torch

from .kernels import (
    Pair,
    add_and_triple,
    add_into,
    doubled,
    mapped,
    matmul,
    normed,
    pooled,
    scaled,
    softmax,
    summed,
    swiglu,
)


def x(*shape):
    return torch.linspace(-2, 2, 48).reshape(*shape or (6, 8))


def trained(*shape):
    return x(*shape).requires_grad_()


#: The kernel, the arguments of its call, and those of its operator where they are others.
CHECKED = {
    "softmax": (softmax, lambda: (trained(),)),
    "softmax of columns": (softmax, lambda: (x(8, 6).t(),)),
    "swiglu": (swiglu, lambda: (trained(), trained())),
    "matmul": (matmul, lambda: (trained(), trained(8, 6))),
    "normed": (normed, lambda: (trained(), 1e-3)),
    "doubled": (doubled, lambda: (x(),)),
    "scaled": (scaled, lambda: (x(), 0.5)),
    "add_into": (add_into, lambda: (x(), x())),
    "add_and_triple": (add_and_triple, lambda: (x(), x(), 0.5)),
    "pooled": (pooled, lambda: (x(), 2)),
    "summed": (summed, lambda: (Pair(x(), x()), torch.float64), lambda: (x(), x(), torch.float64)),
    "mapped": (mapped, lambda: (x(), torch.exp), lambda: (x(),)),
}


@pytest.fixture(autouse=True)
def default_target(monkeypatch):
    """For kernels that backwards call."""
    monkeypatch.setenv("KOPT_TARGET", "reference")


@pytest.mark.parametrize("name", CHECKED)
def test_opcheck(name):
    kernel, arguments, *others = CHECKED[name]
    overload = kernel.on("reference").operator(*arguments())
    operands = (others or [arguments])[0]()
    assert set(torch.library.opcheck(overload, operands).values()) == {"SUCCESS"}
