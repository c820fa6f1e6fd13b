"""A transformer block of kernels trains as plain torch does, in eager mode and compiled to one graph."""

from __future__ import annotations

import pytest
import torch

from examples import transformer

STEPS = 20


def losses_of(block):
    """The mean loss of every step, and the parameters after the last."""
    parameters, *arguments = transformer.inputs()
    parameters = {name: value.requires_grad_() for name, value in parameters.items()}
    optimizer = torch.optim.SGD(parameters.values(), lr=0.5)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = block(parameters, *arguments).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses), parameters


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize(
    ("target", "backend"),
    [
        ("reference", None),
        pytest.param("pallas:interpret", "inductor", marks=pytest.mark.slow),
    ],
)
def test_training(target, backend, monkeypatch):
    """Sums of at most 48 terms of f32 differ by some 1e-6 of their size; twenty steps carry that on."""
    monkeypatch.setenv("KOPT_TARGET", target)
    block = transformer.block
    if backend is not None:
        block = torch.compile(block, fullgraph=True, backend=backend)
    losses, parameters = losses_of(block)
    expected, trained = losses_of(transformer.reference)
    assert losses[-1] < losses[0] / 2
    torch.testing.assert_close(losses, expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(parameters, trained, rtol=1e-4, atol=1e-4)
