"""Kernels under torch.func: batches by a loop, gradients by the kernel's backward, errors for what has no meaning."""

from __future__ import annotations

import pytest
import torch
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

from kopt.errors import ArgumentError, UnsupportedError

from .kernels import add_into, doubled, matmul, noisy, normed, softmax, swiglu

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]
BATCH = torch.linspace(-2, 2, 72).reshape(3, 6, 4)
X = BATCH[0]
close = torch.testing.assert_close


@pytest.fixture(autouse=True)
def default_target(monkeypatch):
    """For kernels that backwards call."""
    monkeypatch.setenv("KOPT_TARGET", "reference")


@pytest.mark.parametrize("target", TARGETS)
def test_vmap(target):
    close(vmap(softmax.on(target))(BATCH), BATCH.softmax(-1))
    product = matmul.on(target)
    close(vmap(product, in_dims=(0, None))(BATCH, X.t()), BATCH @ X.t())
    close(vmap(product, in_dims=(1, 2), out_dims=1)(BATCH.transpose(0, 1), BATCH.permute(2, 1, 0)),
          torch.stack([b @ b.t() for b in BATCH], 1))  # fmt: skip


def test_vmap_of_several_results_and_levels():
    kernel = normed.on("reference")
    twice = vmap(vmap(kernel))(torch.stack([BATCH, BATCH * 2]))
    close(twice[0][1, 2], kernel(BATCH[2] * 2)[0])
    close(twice[1][0], torch.stack([kernel(b)[1] for b in BATCH]))
    assert vmap(kernel)(BATCH[:0])[1].shape == (0, 6)


def test_vmap_of_writes():
    def function(out, x):
        add_into.on("reference")(out, x)
        return out

    close(vmap(function)(BATCH.clone(), BATCH), 2 * BATCH)
    with pytest.raises(ArgumentError, match="'out' is written, and torch.vmap does not map it") as caught:
        vmap(function, in_dims=(None, 0))(X.clone(), BATCH)
    assert "in_dims" in str(caught.value) and caught.value.location is not None


def test_vmap_of_random_numbers():
    kernel = noisy.on("reference")
    with pytest.raises(ArgumentError, match="noisy draws random numbers(.|\n)*randomness='different'"):
        vmap(kernel)(BATCH)
    same = BATCH * 0
    drawn = vmap(kernel, randomness="different")(same)
    assert not torch.equal(drawn[0], drawn[1])
    drawn = vmap(kernel, randomness="same")(same)
    assert torch.equal(drawn[0], drawn[1])


def loss(kernel):
    return lambda x: kernel(x).square().sum()


@pytest.mark.parametrize("target", TARGETS)
def test_gradients(target):
    kernel = softmax.on(target)
    close(grad(loss(kernel))(X), grad(loss(lambda x: x.softmax(-1)))(X))
    close(vjp(kernel, X)[1](X)[0], vjp(lambda x: x.softmax(-1), X)[1](X)[0])
    close(vmap(grad(loss(kernel)))(BATCH), vmap(grad(loss(lambda x: x.softmax(-1))))(BATCH))


def test_jacobians_by_the_backward():
    close(jacrev(softmax.on("reference"))(X), jacrev(lambda x: x.softmax(-1))(X))
    gated = lambda x: swiglu.on("reference")(x, x + 1)  # noqa: E731
    close(jacrev(gated)(X), jacrev(lambda x: torch.nn.functional.silu(x) * (x + 1))(X))


def test_gradients_of_a_module():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.eye(4))

        def forward(self, x):
            return matmul.on("reference")(x, self.weight)

    layer = Layer()
    found = grad(lambda parameters: functional_call(layer, parameters, (X,)).square().sum())(
        dict(layer.named_parameters())
    )
    close(found["weight"], 2 * X.t() @ X)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "transform", [lambda f: jvp(f, (X,), (X,)), lambda f: jacfwd(f)(X), lambda f: hessian(loss(f))(X)]
)
def test_forward_mode_is_refused(transform):
    with pytest.raises(ArgumentError, match=r"argument 'x' is .*no forward-mode derivatives") as caught:
        transform(softmax.on("reference"))
    assert "differentiate in reverse" in str(caught.value) and caught.value.location is not None


def test_without_a_backward_the_gradient_says_so():
    with pytest.raises(UnsupportedError, match="kernel 'doubled' has no backward"):
        grad(loss(doubled.on("reference")))(X)
