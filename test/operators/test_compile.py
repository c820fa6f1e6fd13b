"""Kernels under ``torch.compile(fullgraph=True)``: one operator each in the graph, whatever they take and give."""

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
    noisy,
    normed,
    pooled,
    scaled,
    softmax,
    summed,
    swiglu,
)

TARGETS = ["reference", "pallas:interpret", "triton:interpret", "eager"]
X = torch.linspace(-2, 2, 48).reshape(6, 8)
close = torch.testing.assert_close


def compiled(function, backend="aot_eager", **options):
    return torch.compile(function, fullgraph=True, backend=backend, **options)


@pytest.mark.parametrize("target", TARGETS)
def test_a_graph_has_the_kernel_as_one_operator(target):
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph.code)
        return graph.forward

    kernel = softmax.on(target)
    close(compiled(lambda x: kernel(x + 1) * 2, backend)(X), 2 * X.softmax(-1))
    assert len(graphs) == 1 and graphs[0].count("torch.ops.kopt.") == 1 and "amax" not in graphs[0]


@pytest.mark.parametrize("target", TARGETS)
def test_gradients_go_through_compiled_functions(target):
    kernel, x = swiglu.on(target), X.clone().requires_grad_()
    y = X.clone().requires_grad_()
    compiled(lambda x: kernel(x, x.sin()).square().sum())(x).backward()
    (torch.nn.functional.silu(y) * y.sin()).square().sum().backward()
    close(x.grad, y.grad)


def test_a_compiled_kernel_is_one():
    close(torch.compile(doubled.on("reference"), fullgraph=True, backend="aot_eager")(X), 2 * X)


def test_sizes_that_change_stay_open():
    kernel, graphs = softmax.on("reference"), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    function = compiled(lambda x: kernel(x * 1), backend)
    for rows in (3, 4, 5, 6):
        close(function(X[:rows]), X[:rows].softmax(-1))
    assert len(graphs) == 2  # the second is for all sizes


def test_sizes_of_results_follow_from_open_ones():
    kernel, shapes = pooled.on("reference"), []

    def backend(graph, inputs):
        (node,) = [node for node in graph.graph.nodes if "pooled" in str(node.target)]
        shapes.append(node.meta["example_value"].shape)
        return graph.forward

    function = compiled(lambda x: kernel(x, 2), backend, dynamic=True)
    for rows, columns in ((3, 8), (5, 4), (6, 6)):
        x = torch.rand(rows, columns)
        close(function(x), x.reshape(rows, -1, 2).sum(-1))
    assert len(shapes) == 1 and all(isinstance(size, torch.SymInt) for size in shapes[0])


def test_numbers_that_change_stay_open():
    kernel, graphs = scaled.on("reference"), []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    function = compiled(lambda x, by: kernel(x, by=by), backend)
    for by in (0.5, 0.25, 1.5, 3.0):
        close(function(X, by), X * by)
    assert len(graphs) == 2


def test_numbers_that_a_tensor_holds_are_known_when_the_graph_runs():
    kernel = scaled.on("reference")
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        function = compiled(lambda x, by: kernel(x, by=by.item()))
        for by in (0.5, -1.5, 3.0):
            close(function(X, torch.tensor(by)), X * by)


def test_writes_are_seen():
    kernel = add_into.on("reference")

    def function(x):
        out = x + 1
        kernel(out, x)
        return out * 2

    close(compiled(function)(X), (2 * X + 1) * 2)
    out = X.clone()
    compiled(lambda out, x: kernel(out, x))(out, X)
    close(out, 2 * X)


def test_written_arguments_are_returned_themselves():
    kernel = add_and_triple.on("reference")

    def function(x):
        out = x + 1
        same, tripled = kernel(out, x, alpha=0.5)
        return same is out, out, tripled

    same, out, tripled = compiled(function)(X)
    assert same
    close(out, 1.5 * X + 1)
    close(tripled, 3 * X)


def test_trees_of_arguments_and_results():
    kernel = summed.on("reference")
    found = compiled(lambda a, b: kernel(Pair(a, b=b), torch.float16))(X, X)
    close(found["sum"], (2 * X).half())
    close(found["largest"], (2 * X).argmax(-1))


def test_functions_are_part_of_the_operator():
    kernel, factor = mapped.on("reference"), 3.0
    close(compiled(lambda x: kernel(x, torch.exp) + kernel(x, lambda v: v * factor))(X), X.exp() + 3 * X)


def test_several_results_and_strides():
    kernel, product = normed.on("reference"), matmul.on("reference")
    out, inverse = compiled(lambda x: kernel(product(x.t(), x)))(X)
    expected = X.t() @ X
    close(inverse, torch.rsqrt(expected.square().mean(-1) + 1e-5))
    close(out, expected * inverse[:, None])


def test_random_numbers_are_drawn_anew():
    function = compiled(lambda x: noisy.on("reference")(x))
    torch.manual_seed(3)
    first, second = function(X), function(X)
    torch.manual_seed(3)
    assert torch.equal(function(X), first) and not torch.equal(first, second)
    assert (0 <= first - X + 1e-6).all() and (first - X < 1 + 1e-6).all()


REFUSED = {
    "gradients through writes": (
        lambda x: add_into(x * 1, x),
        "add_into writes its arguments, and torch traces a grad",
    ),
    "too many arguments": (lambda x: doubled(x, x), "doubled: too many positional arguments"),
    "complex numbers": (lambda x: doubled(x + 1j), "dtype complex64 is not supported"),
    "torch.func inside": (
        lambda x: torch.func.grad(lambda y: doubled(y).sum())(x),
        "doubled is differentiated by torch",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_compiled_says_why_and_where(name):
    function, message = REFUSED[name]
    with pytest.raises(torch._dynamo.exc.InternalTorchDynamoError, match=r"kernels.py:\d+:\d+: error: .*" + message):
        compiled(function)(X.clone().requires_grad_())


def test_targets_are_named_in_compiled_functions():
    close(compiled(lambda x: softmax.on("reference")(x) + softmax.on("eager")(x))(X), 2 * X.softmax(-1))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_inductor(target):
    kernel = softmax.on(target)
    x, y = X.clone().requires_grad_(), X.clone().requires_grad_()
    close(compiled(lambda x: kernel(x + 1) * 2, "inductor")(x), out := 2 * (y + 1).softmax(-1))
    compiled(lambda x: (kernel(x + 1) * 2).square().sum(), "inductor")(x).backward()
    out.square().sum().backward()
    close(x.grad, y.grad)
