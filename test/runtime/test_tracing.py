"""Kernels and what is none, where torch or JAX traces, transforms or compiles: a graph break, or an error that says so.

What torch makes of kernels themselves is tested in ``test/operators``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, UnsupportedError

TARGETS = ["reference", "pallas:interpret"]
X = torch.arange(12.0).reshape(3, 4)


@kopt.kernel
def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


@kopt.kernel
def add_into(out, x):
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :]


@pytest.fixture(autouse=True)
def fresh_compiler():
    yield
    torch.compiler.reset()


@pytest.mark.parametrize("target", TARGETS)
def test_compiled_functions_break_their_graph_at_an_executable(target):
    run, graphs = doubled.lower(X, target=target).compile(), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(lambda x: run(x + 1).sin() + 1, backend=backend)
    torch.testing.assert_close(compiled(X), (2 * (X + 1)).sin() + 1)
    assert len(graphs) == 2 and all("doubled" not in graph.code and "empty" not in graph.code for graph in graphs)


def test_a_kernel_itself_compiles_to_itself():
    torch.testing.assert_close(torch.compile(doubled.on("reference"), backend="eager")(X), 2 * X)


def test_compiled_functions_see_what_kernels_write():
    kernel = add_into.on("reference")

    def function(x):
        out = x + 1
        kernel(out, x)
        return out * 2

    torch.testing.assert_close(torch.compile(function, backend="eager")(X), (2 * X + 1) * 2)


@kopt.program(target="triton:interpret")
def program(x):
    return torch.relu(doubled(x))


def test_compiled_functions_break_their_graph_at_a_program():
    compiled = torch.compile(lambda x: program(x + 1) + 1, backend="eager")
    torch.testing.assert_close(compiled(X), 2 * (X + 1) + 1)
    with pytest.raises(torch._dynamo.exc.Unsupported, match="only kernels are custom operators"):
        torch.compile(lambda x: program(x) + 1, backend="eager", fullgraph=True)(X)


TRACED: dict[str, Callable[[Any], Any]] = {
    "make_fx real": lambda kernel: make_fx(kernel)(X),
    "make_fx fake": lambda kernel: make_fx(kernel, tracing_mode="fake")(X),
    "make_fx symbolic": lambda kernel: make_fx(kernel, tracing_mode="symbolic")(X),
    "vmap": lambda kernel: torch.vmap(kernel)(X[None]),
    "grad": lambda kernel: torch.func.grad(lambda x: kernel(x).sum())(X),
    "jvp": lambda kernel: torch.func.jvp(kernel, (X,), (X,)),
    "functionalize": lambda kernel: torch.func.functionalize(kernel)(X),
    "jit.trace": lambda kernel: torch.jit.trace(lambda x: kernel(x), (X,)),
    "fx": lambda kernel: torch.fx.symbolic_trace(lambda x: kernel(x)),
    "FakeTensorMode": lambda kernel: kernel_under(FakeTensorMode(allow_non_fake_inputs=True), kernel),
    "fake tensor": lambda kernel: kernel(FakeTensorMode().from_tensor(X)),
}


def kernel_under(mode, kernel):
    with mode:
        return kernel(X)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("trace", TRACED.values(), ids=TRACED)
def test_tracers_are_refused_by_what_is_no_operator(trace, target):
    """What was compiled for one call; of a kernel `test/operators` has what comes out."""
    with pytest.raises(ArgumentError, match=r"argument 'x' is .*(only kernels are custom|no forward-mode)") as caught:
        trace(doubled.lower(X, target=target).compile())
    assert caught.value.location is not None


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("trace", [TRACED["jvp"], TRACED["fx"]], ids=["jvp", "fx"])
def test_tracers_that_know_no_operators_are_refused(trace, target):
    message = r"argument 'x' is .*(no forward-mode derivatives|only kernels are custom operators)"
    with pytest.raises(ArgumentError, match=message) as caught:
        trace(doubled.on(target))
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_programs_are_refused():
    with pytest.raises(ArgumentError, match="make_fx"):
        make_fx(program)(X)


class Dispatches(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


class Functions(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "mode",
    [Dispatches, Functions, torch.inference_mode, lambda: torch.autocast("cpu"), lambda: torch.device("meta")],
    ids=["dispatch", "function", "inference", "autocast", "device"],
)
@pytest.mark.parametrize("target", TARGETS)
def test_modes_that_only_watch_are_fine(mode, target):
    torch.testing.assert_close(kernel_under(mode(), doubled.on(target)), 2 * X)


J = jnp.arange(12.0).reshape(3, 4)

DIFFERENTIATED: dict[str, Callable[[Any], Any]] = {
    "grad": lambda kernel: jax.grad(lambda x: kernel(x).sum())(J),
    "grad in jit": lambda kernel: jax.jit(jax.grad(lambda x: kernel(x).sum()))(J),
    "jit in grad": lambda kernel: jax.grad(lambda x: jax.jit(kernel)(x).sum())(J),
    "jvp": lambda kernel: jax.jvp(kernel, (J,), (J,)),
    "jit in jvp": lambda kernel: jax.jvp(jax.jit(kernel), (J,), (J,)),
    "vjp": lambda kernel: jax.vjp(kernel, J),
    "grad in vmap": lambda kernel: jax.vmap(jax.grad(lambda x: kernel(x).sum()))(J[None]),
}


@pytest.mark.parametrize("transform", DIFFERENTIATED.values(), ids=DIFFERENTIATED)
def test_kernels_without_a_backward_have_no_derivative_in_jax(transform):
    with pytest.raises(UnsupportedError, match="kernel 'doubled' has no backward, and JAX asks") as caught:
        transform(doubled.on("pallas:interpret"))
    assert caught.value.location is not None
    assert "@doubled.backward" in str(caught.value)


def test_jax_traces_pallas_kernels():
    kernel = doubled.on("pallas:interpret")
    for traced in (
        jax.jit(kernel),
        jax.checkpoint(kernel),
        lambda x: jax.lax.scan(lambda c, _: (kernel(c), 0), x, length=1)[0],
    ):
        assert jnp.array_equal(traced(J), 2 * J)
    assert jax.eval_shape(kernel, J).shape == J.shape


@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_other_targets_say_what_jit_needs(target):
    with pytest.raises(ArgumentError, match="argument 'x' is traced by JAX(.|\n)*choose a target of the pallas family"):
        jax.jit(doubled.on(target))(J)


@pytest.mark.parametrize("target", TARGETS)
def test_arrays_that_jax_does_not_trace_are_computed_at_once(target):
    """A kernel that a traced function calls on its constants."""
    kernel = doubled.on(target)
    for transform in (jax.jit, jax.vmap):
        assert jnp.array_equal(transform(lambda x: kernel(J).sum() + x)(jnp.zeros(3)), jnp.full(3, 2 * J.sum()))
    assert jax.grad(lambda x: (x * kernel(J)).sum())(1.0) == 2 * J.sum()
