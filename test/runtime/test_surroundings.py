"""What a caller has set of torch and JAX for its own numbers changes none of a kernel's."""

from __future__ import annotations

import os
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest
import torch

import kopt
import kopt.language as hl

close = torch.testing.assert_close
X, W = torch.randn(13, 7), torch.randn(7, 5)


@kopt.kernel
def doubled_product(x, w):
    """A product on the host, another in the cells."""
    y = x @ w
    out = torch.empty([x.size(0), w.size(1)], dtype=x.dtype, device=x.device)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = y[rows, :] + x[rows, :] @ w[:, :]
    return out, y.softmax(-1)


@kopt.kernel
def add_to(total, x, alpha):
    for rows in hl.tile(x.size(0)):
        total[rows, :] = total[rows, :] + alpha * x[rows, :]
    return total


@pytest.mark.parametrize("target", ["eager", "reference", "pallas:interpret"])
def test_autocast_changes_no_dtypes(target):
    expected = 2 * (X @ W), (X @ W).softmax(-1)
    kernel = doubled_product.on(target)
    with torch.autocast("cpu", torch.bfloat16):
        first, second = kernel(X, W), kernel(X, W)
    close(first, expected)
    close(second, expected)
    close(kernel(X, W), expected)


@pytest.mark.parametrize("target", ["eager", "reference"])
def test_inference_tensors_are_read_and_under_inference_mode_written(target):
    kernel = add_to.on(target)
    with torch.inference_mode():
        total = torch.zeros(5, 3)
        assert kernel(total, torch.ones(5, 3), 2.0) is total
        kernel(total[1:3], torch.ones(2, 3), 1.0)
        held = total.clone()
    close(held.sum(1), torch.tensor([6.0, 9, 9, 6, 6]))
    close(kernel(torch.zeros(5, 3), held, 1.0), held.clone())
    with pytest.raises(kopt.ArgumentError, match="'total' is written, and it is an inference tensor"):
        kernel(held, torch.ones(5, 3), 1.0)
    close(held.sum(1), torch.tensor([6.0, 9, 9, 6, 6]))


def of_launches():
    """Run by a process that interprets Triton: the emitted function gets the caller's tensors, as on a GPU."""

    def check_saved(write):
        factor, saved = torch.ones(5, 3, requires_grad=True), torch.ones(5, 3)
        product = (factor * saved).sum()
        write(saved)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()

    kernel = add_to.on("triton:interpret")
    for _ in range(3):  # the second call goes the short way
        check_saved(lambda saved: kernel(saved, torch.ones(5, 3), 2.0))
    compiled = kernel.lower(torch.ones(5, 3), torch.ones(5, 3), 2.0).compile()
    check_saved(lambda saved: compiled(saved, torch.ones(5, 3), 2.0))
    for _ in range(2):  # what a call without autocast has left does not serve one under it
        test_autocast_changes_no_dtypes("triton:interpret")


def test_launches_in_a_tensors_own_memory():
    """Autograd knows of writes to what it has saved, and autocast does not reach the emitted function."""
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr


@pytest.fixture(params=[False, True], ids=["32", "64"])
def wide(request):
    """JAX's mode, for all threads."""
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", False)


def test_jax_in_64_bit_mode_runs_kernels_of_32_bits(wide):
    """JAX's mode is for the caller's own numbers: a kernel's text is of one width."""
    kernel = kopt.kernel(add_to.fn).on("pallas:interpret")
    array, batch = jnp.ones((5, 3), jnp.float32), jnp.ones((2, 5, 3), jnp.float32)
    found = [
        *(kernel(array, array, 2.0) for _ in range(3)),
        jax.jit(lambda total: kernel(total, array, 2.0))(array),
        jax.vmap(lambda total: kernel(total, array, 2.0))(batch)[1],
        jax.lax.fori_loop(0, 1, lambda _, total: kernel(total, array, 2.0), array),
    ]
    with jax.enable_x64(not wide):
        found += [kernel(array, array, 2.0), jax.jit(lambda total: kernel(total, array, 2.0))(array)]
    assert all(one.dtype == jnp.float32 and bool((one == 3).all()) for one in found)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16])
def test_python_floats_that_jax_traces_promote_nothing(wide, dtype):
    x = jnp.ones((5, 3), dtype)
    result = jax.jit(add_to.on("pallas:interpret"))(x, x, 2.0)
    assert result.dtype == dtype and bool((result == 3).all())


if __name__ == "__main__":
    of_launches()
