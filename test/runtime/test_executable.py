"""Argument errors, the reference target, and what is common to all targets."""

import numpy as np
import pytest

from kopt.errors import ArgumentError, ConfigError
from kopt.runtime.executable import Executable
from kopt.runtime.signature import Signature, TensorParameter
from kopt.specs import parse_spec

from .support import signature


def reference(interpret, *specs, **options):
    return Executable("", "kernel", signature("kernel", *specs), "reference", interpret=interpret, **options)


def add(arrays):
    return [arrays[0] + arrays[1]]


X = np.ones((3, 4), np.float32)


@pytest.mark.parametrize(
    "args, message",
    [
        ((X,), "kernel: expected 2 arguments, got 1"),
        ((X, X, X), "kernel: expected 2 arguments, got 3"),
        ((X, X[0]), r"argument 'y': expected rank 2 \(f32\[3,4\]\), got rank 1 \(f32\[4\]\)"),
        ((X, X.astype(np.int32)), r"argument 'y': expected dtype f32 \(f32\[3,4\]\), got i32 \(i32\[3,4\]\)"),
        ((X[:2], X), r"argument 'x': expected shape \[3, 4\], got \[2, 4\]"),
        ((X, 3.0), r"argument 'y': expected a f32\[3,4\] tensor, got float"),
        ((X, None), "got NoneType"),
    ],
)
def test_argument_errors_name_the_argument(args, message):
    with pytest.raises(ArgumentError, match=message) as caught:
        reference(add, "f32[3,4]", "f32[3,4]")(*args)
    assert "the kernel takes kernel(x: f32[3,4], y: f32[3,4])" in str(caught.value)


def test_mixed_frameworks_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match="argument 'y' is a torch array, but 'x' is a numpy one"):
        reference(add, "f32[3,4]", "f32[3,4]")(X, torch.ones(3, 4))


def test_wrong_device():
    torch = pytest.importorskip("torch")
    with pytest.raises(ArgumentError, match="argument 'x': expected a tensor on cpu, got one on meta"):
        reference(add, "f32[3,4]", "f32[3,4]")(torch.ones(3, 4, device="meta"), torch.ones(3, 4))


def test_reference_in_numpy():
    got = reference(add, "f32[3,4]", "f32[3,4]")(X, 2 * X)
    assert isinstance(got, np.ndarray) and (got == 3).all()


def test_reference_holds_bf16_in_float32():
    torch = pytest.importorskip("torch")

    def scale(arrays):
        assert arrays[0].dtype == np.float32
        return [arrays[0] * 2, arrays[0] > 0]

    exe = reference(scale, "bf16[5]", results=[parse_spec("bf16[5]"), parse_spec("i1[5]")])
    x = torch.randn(5).bfloat16()
    doubled, positive = exe(x)
    assert torch.equal(doubled, x * 2) and torch.equal(positive, x > 0)


def test_reference_writes_back_mutated_arguments():
    def bump(arrays):
        arrays[0] += 1
        return [arrays[0].sum(), arrays[0]]

    x = np.zeros((4, 3), np.float32).T
    assert reference(bump, "f32[3,4]", mutated=(0,))(x) == 12 and (x == 1).all()


def test_reference_needs_ir():
    with pytest.raises(ArgumentError, match="the reference target runs IR"):
        Executable("", "kernel", Signature("kernel", ()), "reference")()


def test_function_is_refused_where_there_is_none():
    with pytest.raises(ConfigError, match="does not run the emitted function in this process"):
        _ = reference(add, "f32[3,4]", "f32[3,4]").function


def test_no_arguments():
    exe = Executable(
        "", "kernel", Signature("kernel", ()), "reference", interpret=lambda arrays: [arrays[0] * 2], hidden=(X,)
    )
    assert (exe() == 2).all()


def test_target_and_signature_show():
    parameter = TensorParameter("x", parse_spec("f32[3]"))
    exe = Executable("", "kernel", Signature("kernel", (parameter,)), "pallas:strict@v5e")
    assert str(exe.target) == "pallas:strict@v5e"
    assert repr(exe) == "<kopt executable kernel(x: f32[3]) for pallas:strict@v5e>"
