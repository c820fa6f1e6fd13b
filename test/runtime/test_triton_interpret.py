"""The Triton interpreter, mended: bf16 computes as a GPU does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kopt.dtypes import BY_SPEC  # noqa: E402
from kopt.errors import CompileError  # noqa: E402
from kopt.runtime.tolerance import allclose  # noqa: E402

from .support import executable  # noqa: E402

TARGET = "triton:interpret"


def bf16(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0)).to(torch.bfloat16)


def test_bf16_arithmetic_is_rounded_f32():
    x, y = bf16(64), bf16(128)[64:].contiguous()
    got = executable("bf16_triton", "ops", TARGET, x, y)(x, y)
    wanted = [x + y, x * y, torch.where(x > y, x, y), torch.maximum(x, y), (x.float() * 1.01).to(torch.bfloat16)]
    for row, expected in zip(got[:5], wanted, strict=True):
        assert torch.equal(row, expected)
    assert torch.allclose(got[5, 0].float(), x.float().sum(), rtol=2e-2)
    assert torch.equal(got[6, 0], x.max())


def test_bf16_dot():
    x, y = bf16(32, 32), bf16(32, 32)
    got = executable("bf16_triton", "dot", TARGET, x, y)(x, y)
    assert got.dtype == torch.float32
    assert torch.allclose(got, x.float() @ y.float(), atol=1e-4)


def test_bf16_atomics_with_collisions():
    x = torch.full((100,), 2.0, dtype=torch.bfloat16)
    index = torch.arange(100, dtype=torch.int32) % 7
    out = torch.ones(7, dtype=torch.bfloat16)
    expected = out.clone().index_add_(0, index, x)
    assert executable("bf16_triton", "scatter", TARGET, x, index, out, mutated=(2,))(x, index, out) is None
    assert torch.equal(out, expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("shape", [(300, 130), (1, 1), (257,), (0, 4)])
def test_exp(dtype, shape):
    x = torch.randn(shape).to(dtype)
    got = executable("exp_triton", "exp", TARGET, x)(x)
    assert got.dtype == dtype and torch.allclose(got.float(), x.float().exp().to(dtype).float(), rtol=1e-2)


def test_softmax_and_matmul_against_torch():
    x, y = torch.randn(40, 70), torch.randn(70, 33)
    got = executable("softmax_triton", "softmax", TARGET, x)(x)
    assert torch.allclose(got, torch.softmax(x, 1), atol=1e-6)
    for dtype, spec in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
        a, b = x.to(dtype), y.to(dtype)
        got = executable("softmax_triton", "matmul", TARGET, a, b)(a, b)
        assert got.dtype == dtype and allclose(got, a.float() @ b.float(), BY_SPEC[spec], 70)


def test_mutation_is_written_back_to_any_framework():
    jnp = pytest.importorskip("jax.numpy")
    x = torch.ones(4, 6)
    exe = executable("softmax_triton", "double_then_softmax", TARGET, x, mutated=(0,))
    assert exe(x).shape == (4, 6) and torch.equal(x, torch.full((4, 6), 2.0))
    array = jnp.ones((4, 6))
    _, final = exe(array)
    assert (final == 2).all() and (array == 1).all()


def test_arguments_get_the_strides_that_were_compiled():
    x = torch.randn(6, 4).T
    exe = executable("exp_triton", "exp", TARGET, x)
    for value in (x, x.contiguous(), torch.randn(4, 6)[:, :]):
        assert torch.allclose(exe(value), value.exp())


def test_an_error_names_the_kernels_line():
    x = torch.ones(8)
    with pytest.raises(
        CompileError, match=r"misaligned.py:6:1: error: triton:interpret: kernel 'misaligned'"
    ) as caught:
        executable("softmax_triton", "misaligned", TARGET, x)(x)
    assert "tl.arange(0, 2 * B)" in str(caught.value)


def test_an_endless_kernel_is_stopped():
    x = torch.ones(1)
    exe = executable("softmax_triton", "endless", TARGET, x, time_limit=4.0)
    with pytest.raises(CompileError, match="kernel 'endless' did not end within 4 s"):
        exe(x)


def test_in_place_where_the_process_interprets():
    """With TRITON_INTERPRET=1 from the start, the kernel runs in this process and mutates the caller's tensor."""
    code = """
import sys, torch
sys.path.insert(0, FOLDER)
from support import executable
x = torch.ones(4, 6)
exe = executable("softmax_triton", "double_then_softmax", "triton:interpret", x, mutated=(0,))
exe(x)
assert (x == 2).all() and exe.function is not None
print("ok")
"""
    code = code.replace("FOLDER", repr(str(Path(__file__).parent)))
    env = dict(os.environ, TRITON_INTERPRET="1")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env)
    assert done.stdout == "ok\n", done.stderr
