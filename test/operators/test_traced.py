"""Kernels where torch traces: operators in graphs, shapes without elements, and nothing that is baked in."""

from __future__ import annotations

import io

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import kopt
from kopt.errors import UnsupportedError

from .kernels import Pair, add_into, doubled, matmul, pooled, softmax, summed

TARGETS = ["reference", "pallas:interpret", "triton:interpret"]
X = torch.linspace(-2, 2, 48).reshape(6, 8)
close = torch.testing.assert_close


@pytest.mark.parametrize("mode", ["real", "fake", "symbolic"])
@pytest.mark.parametrize("target", TARGETS)
def test_make_fx_keeps_calls(target, mode):
    graph = make_fx(softmax.on(target), tracing_mode=mode)(X)
    assert graph.code.count("torch.ops.kopt.") == 1
    close(graph(X.flip(1)), X.flip(1).softmax(-1))


@pytest.mark.parametrize("target", TARGETS)
def test_fake_tensors_have_shapes_only(target):
    with FakeTensorMode() as mode:
        x = mode.from_tensor(X)
        found = summed.on(target)(Pair(x, x), torch.float16)
        assert (found["sum"].shape, found["sum"].dtype, type(found["sum"])) == ((6, 8), torch.float16, type(x))
        assert (found["largest"].shape, found["largest"].dtype) == ((6,), torch.int64)
        assert add_into.on(target)(x, x) is None
    assert doubled.on(target)(mode.from_tensor(X)).shape == (6, 8)  # outside of the mode too
    close(doubled.on(target)(X), 2 * X)


@pytest.mark.parametrize("target", TARGETS)
def test_export(target):
    kernel = softmax.on(target)

    class Module(torch.nn.Module):
        def forward(self, x):
            return kernel(x) + 1

    rows = torch.export.Dim("rows", min=2, max=64)
    program = torch.export.export(Module(), (X,), dynamic_shapes=({0: rows},))
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    again = torch.export.load(file).module()
    for count in (2, 5, 6):
        close(again(X[:count]), X[:count].softmax(-1) + 1)


def test_exported_shapes_are_open():
    class Module(torch.nn.Module):
        def forward(self, x, y):
            return pooled.on("reference")(matmul.on("reference")(x, y), 2)

    rows = torch.export.Dim("rows")
    program = torch.export.export(Module(), (X, X.t().clone()), dynamic_shapes=({0: rows}, {}))
    (result,) = program.graph.find_nodes(op="output")[0].args[0]
    assert isinstance(result.meta["val"].shape[0], torch.SymInt) and result.meta["val"].shape[1] == 3


def test_functionalised_writes_are_copies():
    def function(x):
        out = x + 1
        add_into.on("reference")(out, x)
        return out

    close(torch.func.functionalize(function)(X), 2 * X + 1)
    graph = make_fx(torch.func.functionalize(function))(X)
    assert "copy_" not in graph.code
    close(graph(X * 3), 6 * X + 1)


def test_writes_are_in_the_schema():
    overload = add_into.on("reference").operator(X, X)
    assert str(overload._schema).endswith("(Tensor(a0!) out, Tensor x) -> ()")
    assert overload._schema.is_mutable and not doubled.operator("f32[6,8]")._schema.is_mutable


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_jit_trace():
    traced = torch.jit.trace(lambda x: softmax.on("reference")(x) * 2, (X,))
    close(traced(X + X.flip(1).sin()), (X + X.flip(1).sin()).softmax(-1) * 2)


def test_an_operator_is_asked_for_by_specs():
    overload = softmax.on("reference").operator("f32[6,8]")
    assert overload is softmax.on("reference").operator(X) and overload.namespace == "kopt"
    close(overload(X), X.softmax(-1))
    with pytest.raises(UnsupportedError, match="'program' is a program, and only kernels are custom operators"):
        program.operator(X)


@kopt.program
def program(x):
    return doubled(x)
