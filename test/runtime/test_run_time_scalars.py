"""Python numbers that change from call to call: one kernel serves them, with the values that constants have."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, UnsupportedError

TARGETS = ("reference", "pallas:interpret", "triton:interpret")
X = torch.linspace(-3, 3, 37 * 50).reshape(37, 50)


def scaled(x, scale, shift=3):
    out = torch.empty_like(x)
    inverse = 1.0 / (scale * math.sqrt(scale))
    for rows in hl.tile(x.size(0)):
        value = torch.where(x[rows, :] > scale, x[rows, :] * inverse + shift, torch.clamp(x[rows, :], max=scale))
        out[rows, :] = value * -scale + (rows.index[:, None] % shift).to(x.dtype)
    return out


def wanted(x, scale, shift=3):
    value = torch.where(x > scale, x * (1.0 / (scale * math.sqrt(scale))) + shift, x.clamp(max=scale))
    return value * -scale + (torch.arange(x.size(0))[:, None] % shift).to(x.dtype)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("target", TARGETS)
def test_values_are_those_of_constants(target, dtype):
    if dtype == torch.float64 and target.startswith("pallas"):
        pytest.skip("TPUs have no f64")
    x, kernel = X.to(dtype), kopt.kernel(scaled, target=target)
    constants = kopt.kernel(scaled, target=target, dynamic=())
    # XLA's CPU compiler rounds a product and a sum once or twice, as it likes for each kernel: an ulp of the terms.
    close = {"rtol": None, "atol": None} if target.startswith("pallas") else {"rtol": 0, "atol": 0}
    for scale, shift in [(0.5, 3), (0.7, 3), (1.1, 5), (0.1, 7), (2.5, 2)]:
        torch.testing.assert_close(kernel(x, scale, shift), constants(x, scale, shift), **close)
        torch.testing.assert_close(kernel(x, scale, shift), wanted(x, scale, shift))


def test_one_kernel_serves_all_numbers_from_the_second_on(monkeypatch):
    kernel, lowered = kopt.kernel(scaled, target="reference"), []
    lower = kopt.Kernel._lower_once
    monkeypatch.setattr(kopt.Kernel, "_lower_once", lambda *args: lowered.append(args) or lower(*args))
    for number in range(10):
        kernel(X, 0.5 + number, 3)
    assert len(lowered) == 2
    for number in range(10):
        kernel(X, 0.5, 3 + number)  # the first is compiled in; the second opens both
    assert len(lowered) == 3


def test_integers_and_floats_are_told_apart():
    kernel = kopt.kernel(scaled, target="reference", dynamic=("scale", "shift"))
    for scale, shift in [(1, 2), (1.0, 2), (2, 3), (2.0, 3)]:
        torch.testing.assert_close(kernel(X, scale, shift), wanted(X, scale, shift))
    assert len(kernel._compiled) == 2


def repeated(x, times, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        value = x[rows, :]
        for _ in range(times):
            value = value * by if by > 1 else value + by
        out[rows, :] = value
    return out


def kind(x, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * by if type(by) is float and isinstance(by, float) else x[rows, :]
    return out


def told(x, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] + len(str(by)) + len(f"{by}") + len(repr(by)) + round(by) + hash(by)
    return out


def test_what_python_asks_of_a_number():
    for function in (kind, told):
        kernel = kopt.kernel(function, target="reference")
        for by in (1.0, 2.0, 22.0, 333.25, 4):
            assert torch.equal(kernel(X, by), plain(function, X, by))


def plain(function, x, by):
    """What a function of one tile computes."""
    if function is kind:
        return x * by if type(by) is float else x
    return x + len(str(by)) + len(f"{by}") + len(repr(by)) + round(by) + hash(by)


def test_numbers_that_are_needed_are_compiled_in():
    kernel = kopt.kernel(repeated, target="reference")
    for times, by in [(1, 2.0), (2, 2.0), (3, 0.5), (3, 0.25), (3, 1.5)]:
        want = X * by**times if by > 1 else X + by * times
        torch.testing.assert_close(kernel(X, times, by), want)


def test_numbers_that_are_needed_are_named_with_their_place():
    with pytest.raises(UnsupportedError, match="the value of 'by', which differs from call to call") as error:
        kopt.kernel(repeated, target="reference", dynamic=["by"])(X, 1, 2.0)
    assert "value * by if by > 1 else value + by" in str(error.value) and "dynamic=" in str(error.value)
    with pytest.raises(UnsupportedError, match="the value of 'times'"):
        kopt.kernel(repeated, target="reference", dynamic=["times"])(X, 1, 2.0)


def test_names_that_no_parameter_has():
    with pytest.raises(ArgumentError, match="dynamic names 'scales'"):
        kopt.kernel(scaled, dynamic=["scales"])


def shifted(x, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] + by * by
    return out


def test_numbers_beyond_the_arguments_dtype_are_constants():
    kernel, x = kopt.kernel(shifted, target="reference"), torch.arange(12).reshape(3, 4)
    for by in (2, 3, 2**20, 2**31 - 1, 4):
        assert torch.equal(kernel(x, by), x + by * by)
    large = kopt.kernel(shifted, target="reference")
    for by in (1.0, 2.0, 1e30, math.inf, -2.0, math.nan):
        torch.testing.assert_close(large(X, by), X + by * by, equal_nan=True)


def test_what_python_refuses_is_an_error_of_the_kernel():
    kernel = kopt.kernel(scaled, target="reference")
    kernel(X, 1.0), kernel(X, 2.0)
    with pytest.raises(UnsupportedError, match="division by zero"):
        kernel(X, 0.0)


def nested(x, options):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * options["by"][0] + options["by"][1]
    return out


def test_numbers_in_tuples_and_dicts():
    kernel = kopt.kernel(nested, target="reference", dynamic=["options"])
    for a, b in [(1.0, 2), (0.5, 3), (0.25, 4)]:
        torch.testing.assert_close(kernel(X, {"by": (a, b)}), X * a + b)
    assert len(kernel._compiled) == 1


def written(x, y, by):
    for rows in hl.tile(x.size(0)):
        y[rows, :] += x[rows, :] * by + hl.rand([rows, x.size(1)], seed=1)


def test_arguments_that_are_written():
    """Their numbers count tensors, numbers and what the kernel brings."""
    kernel, constants = (kopt.kernel(written, target="triton:interpret", dynamic=d) for d in (None, ()))
    for by in (1.0, 2.0, 3.0, 4.0):
        a, b = torch.ones(37, 50), torch.ones(37, 50)
        kernel(X, a, by), constants(X, b, by)
        assert torch.equal(a, b)


BIAS = torch.arange(50.0)


def biased(x, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = torch.dropout(x[rows, :] + BIAS[:], 0.0, False) * by
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_beside_tensors_of_closures(target):
    kernel = kopt.kernel(biased, target=target)
    for by in (1.0, 2.0, 3.0, 3.5):
        assert torch.equal(kernel(X, by), (X + BIAS) * by)


def test_arrays_of_jax_inside_and_outside_of_jit():
    import jax
    import jax.numpy as jnp

    kernel, x = kopt.kernel(shifted, target="pallas:interpret"), jnp.asarray(X.numpy())
    for by in (1.0, 2.0, 3.0, 4.0):
        np.testing.assert_array_equal(kernel(x, by), x + by * by)
        np.testing.assert_array_equal(jax.jit(lambda x, by=by: kernel(x, by))(x), x + by * by)
    assert len(kernel._compiled) == 2


def test_torch_compile_of_open_floats():
    kernel = kopt.kernel(shifted, target="reference")
    compiled = torch.compile(lambda x, by: kernel(x, by) + 1, backend="eager", fullgraph=True)
    for by in (1.0, 2.0, 3.0, 4.0):
        torch.testing.assert_close(compiled(X, by), X + by * by + 1)


def test_the_ir_and_the_emitted_module_take_them():
    low = kopt.kernel(scaled, dynamic=["scale"]).lower("f32[64,128]", 0.5, target="pallas:v6e")
    assert "%scale: memref<f32>" in low.ir and "%scale_2: memref<f32>" in low.ir
    assert low.report()["legal"]


def test_saved_kernels_take_them(tmp_path):
    kernel = kopt.kernel(scaled, dynamic=["scale"])
    kernel.lower(X, 0.5, target="triton:interpret").save(tmp_path / "saved")
    loaded = kopt.load(tmp_path / "saved")
    for scale in (0.5, 0.7, 2.0):
        torch.testing.assert_close(loaded(X, scale), wanted(X, scale))
    with pytest.raises(ArgumentError, match="'scale' is a number of type float, found 2"):
        loaded(X, 2)
    script = "import torch, saved; print(saved.scaled(torch.ones(37, 50), 0.25).sum().item())"
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert math.isclose(float(done.stdout), wanted(torch.ones(37, 50), 0.25).sum().item(), rel_tol=1e-6)
