"""The Triton interpreter, mended: bf16 computes as a GPU does."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

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
