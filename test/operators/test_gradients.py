"""Backwards of kernels: what they are, what calls them, and what is said where there is none."""

from __future__ import annotations

import pytest
import torch
from torch.utils.checkpoint import checkpoint

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, UnsupportedError

from .kernels import Pair, add_into, doubled, matmul, normed, scaled, softmax, summed, swiglu

TARGETS = ["reference", "triton:interpret"]  # a TPU has no f64, which gradcheck needs
X = torch.linspace(-2, 2, 48).reshape(6, 8)
close = torch.testing.assert_close


def doubles(*shapes):
    return [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]


CHECKED = {
    "softmax": (lambda on: on(softmax), [(3, 4)]),
    "softmax twice": (lambda on: lambda x: on(softmax)(on(softmax)(x) * x), [(3, 4)]),
    "swiglu": (lambda on: on(swiglu), [(3, 4), (3, 4)]),
    "swiglu of one": (lambda on: lambda x: on(swiglu)(x, x) + on(swiglu)(x, 2 * x), [(3, 4)]),
    "matmul": (lambda on: on(matmul), [(3, 4), (4, 2)]),
    "matmul of one": (lambda on: lambda x: on(matmul)(x, x), [(3, 3)]),
    "normed": (lambda on: on(normed), [(3, 4)]),
    "one result of normed": (lambda on: lambda x: on(normed)(x)[1], [(3, 4)]),
}


@pytest.fixture(autouse=True)
def default_target(monkeypatch):
    """For kernels that backwards call."""
    monkeypatch.setenv("KOPT_TARGET", "reference")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CHECKED)
def test_gradcheck(name, target):
    make, shapes = CHECKED[name]
    assert torch.autograd.gradcheck(make(lambda kernel: kernel.on(target)), doubles(*shapes), fast_mode=True)


@pytest.mark.parametrize("name", ["softmax", "matmul", "normed"])
def test_gradients_of_gradients_where_backwards_have_them(name):
    make, shapes = CHECKED[name]
    assert torch.autograd.gradgradcheck(make(lambda kernel: kernel.on("reference")), doubles(*shapes), fast_mode=True)


def test_forward_runs_without_a_backward_which_is_named_when_asked_for():
    out = doubled.on("reference")(X.clone().requires_grad_())
    close(out, 2 * X)
    assert out.requires_grad
    with pytest.raises(UnsupportedError, match="kernel 'doubled' has no backward") as caught:
        out.sum().backward()
    assert "@doubled.backward on a function of grad, result" in str(caught.value)
    assert caught.value.location is not None and caught.value.location.file.endswith("kernels.py")


def test_backwards_that_are_kernels_have_their_own():
    x, y = doubles((3, 4), (3, 4))
    (grad,) = torch.autograd.grad(swiglu.on("reference")(x, y).sum(), x, create_graph=True)
    with pytest.raises(UnsupportedError, match="kernel 'swiglu_backward' has no backward"):
        grad.sum().backward()


def test_integers_need_no_gradient():
    found = summed.on("reference")(Pair(X.clone().requires_grad_(), X), torch.float32)
    assert found["sum"].requires_grad and not found["largest"].requires_grad


def test_a_backward_may_be_given_later_and_by_saved_names():
    kernel = kopt.kernel(scaled.fn, target="reference")
    x = X.clone().requires_grad_()
    out = kernel(x, 3.0)
    with pytest.raises(UnsupportedError, match="no backward"):
        out.sum().backward()
    kernel.backward(lambda arriving, factor: arriving * factor, saved=("grad", "by"))
    kernel(x, 3.0).sum().backward()
    close(x.grad, torch.full_like(X, 3))
    kernel.on("triton:interpret")(x, 2.0).sum().backward()
    close(x.grad, torch.full_like(X, 5))


def test_results_whose_gradient_no_backward_takes_have_none():
    kernel = kopt.kernel(normed.fn, target="reference")
    kernel.backward(lambda grad_0, result_1: grad_0 * result_1[:, None])
    out, inverse = kernel(X.clone().requires_grad_())
    assert out.requires_grad and not inverse.requires_grad
    gradient = torch.func.grad(lambda x: kernel(x)[1].sum())(X)
    close(gradient, torch.zeros_like(X))


def test_names_that_nothing_has_are_refused():
    with pytest.raises(ArgumentError, match="backward of 'doubled' takes 'weight', which is nothing that its forward"):
        doubled.backward(lambda grad, weight: grad)
    with pytest.raises(ArgumentError, match="a backward is a kernel or a function, found int"):
        doubled.backward(3)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda grad: (grad, grad), "gives 2 gradients, and there are 1 of floating point: x"),
        (lambda grad: {"by": grad}, "gives a gradient of 'by', which is no floating-point tensor"),
        (lambda grad_1: grad_1, "takes grad_1, and there are 1 results"),
    ],
)
def test_what_a_backward_gives_is_checked(rule, message):
    kernel = kopt.kernel(scaled.fn, target="reference")
    kernel.backward(rule)
    with pytest.raises(ArgumentError, match=f"the backward of 'scaled' {message}"):
        kernel(X.clone().requires_grad_()).sum().backward()


def test_writes_have_no_gradient():
    kernel, x = add_into.on("reference"), X.clone().requires_grad_()
    out = x * 1
    kernel(out, X)
    close(out, 2 * X)
    with pytest.raises(UnsupportedError, match="kernel 'add_into' writes its arguments and has no backward"):
        out.sum().backward()
    with pytest.raises(ArgumentError, match="'out' is written, and it is a leaf that requires grad"):
        kernel(x, X)
    with torch.no_grad():
        kernel(x, X)
    close(x.detach(), 2 * X)


WEIGHT = torch.ones(8, requires_grad=True)


@kopt.kernel(target="reference")
def by_weight(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * WEIGHT[:]
    return out


def test_gradients_through_a_closure_are_not_lost_silently():
    with pytest.raises(ArgumentError, match="a tensor of its closure requires grad"):
        by_weight(X.clone().requires_grad_())


def test_modules_train_with_checkpoints():
    x, y = X.clone().requires_grad_(), X.clone().requires_grad_()
    kernel = softmax.on("reference")
    checkpoint(lambda x: kernel(x * 2).square().sum(), x, use_reentrant=False).backward()
    (y * 2).softmax(-1).square().sum().backward()
    close(x.grad, y.grad)
