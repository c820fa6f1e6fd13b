"""Tensor descriptors: blocks of products come and go by the copy engine where the chip has it, with the same values."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 4e-3}


@kopt.kernel(target="triton:interpret")
def product(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
    for m, n in hl.tile([x.size(0), y.size(1)]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[m, k], y[k, n])
        out[m, n] = acc.to(x.dtype)
    return out


@kopt.kernel(target="triton:interpret")
def scores(q, k):
    out = torch.empty([q.size(0), q.size(1), k.size(1)], dtype=torch.float32, device=q.device)
    for b, m, n in hl.tile([q.size(0), q.size(1), k.size(1)], block_size=[1, None, None]):
        out[b, m, n] = torch.bmm(q[b, m, :], k[b, n, :].transpose(1, 2)).to(torch.float32)
    return out


@kopt.kernel(target="triton:interpret")
def within(x, y, end):
    """Rows beyond ``end`` are in the array, and no part of the product."""
    out = torch.empty([x.size(0), y.size(1)], dtype=x.dtype, device=x.device)
    for m, n in hl.tile([x.size(0), y.size(1)]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(end):
            acc = torch.addmm(acc, x[m, k], y[k, n])
        out[m, n] = acc.to(x.dtype)
    return out


def normal(*shape, dtype=torch.float32, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def described(kernel, *args):
    return kernel.lower(*args).source.count("TensorDescriptor(")


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("m", "k", "n"), [(64, 64, 64), (100, 72, 136), (33, 520, 8), (1, 16, 16)])
def test_values(m, k, n, dtype):
    x, y = normal(m, k, dtype=dtype), normal(k, n, dtype=dtype, seed=1)
    want = (x.double() @ y.double()).to(dtype)
    torch.testing.assert_close(product(x, y), want, atol=TOLERANCE[dtype] * k**0.5, rtol=TOLERANCE[dtype])
    assert described(product, x, y) == 3


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_batches_and_transposed_operands(dtype):
    q, k = normal(3, 40, 64, dtype=dtype), normal(3, 56, 64, dtype=dtype, seed=1)
    want = q.double() @ k.double().mT
    torch.testing.assert_close(scores(q, k), want.float(), atol=0.1, rtol=TOLERANCE[dtype])
    assert described(scores, q, k) == 3


def test_arrays_that_begin_anywhere_and_have_rows_apart():
    y = normal(64, 48, seed=1)
    for x in (normal(64 * 64 + 1)[1:].view(64, 64), normal(64, 96)[:, 8:72], normal(65, 64)[1:]):
        torch.testing.assert_close(product(x, y), x @ y, atol=1e-4, rtol=1e-4)
        assert described(product, x, y) == 3


def test_a_range_that_ends_before_its_array():
    x, y = normal(64, 96), normal(96, 48, seed=1)
    for end in (40, 64, 95):
        torch.testing.assert_close(within(x, y, end), x[:, :end] @ y[:end], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", [(64, 65), (64, 2)])
def test_rows_that_a_descriptor_cannot_have(shape):
    x, y = normal(*shape), normal(shape[1], 48, seed=1)
    torch.testing.assert_close(product(x, y), x @ y, atol=1e-4, rtol=1e-4)
    assert described(product, x, y) == 2


@pytest.mark.parametrize("rows", [1, 100])
def test_stores_that_a_plan_puts_through_pointers(rows):
    x, y = normal(rows, 64), normal(64, 48, seed=1)
    kernel = kopt.kernel(product.fn, target="triton:interpret", config={"accesses": {"out": "pointer"}})
    torch.testing.assert_close(kernel(x, y), x @ y, atol=1e-4, rtol=1e-4)
    assert described(kernel, x, y) == 2


def test_a_product_of_numbers_is_stored_as_a_whole():
    """Into a plane that a number picks: what is stored has other dimensions, all of it."""

    def halved(q, k):
        out = torch.empty([q.size(0), q.size(1), k.size(1)])
        for b, m in hl.tile(q.size()[:2], block_size=[1, None]):
            out[b.begin, m, :] = torch.mm(q[b.begin, m, :], k[b.begin, :, :].T) * 0.5
        return out

    q, k = normal(3, 40, 64), normal(3, 32, 64, seed=1)
    kernel = kopt.kernel(halved, target="triton:interpret")
    torch.testing.assert_close(kernel(q, k), q @ k.mT * 0.5, atol=1e-4, rtol=1e-4)
    assert described(kernel, q, k) == 3


def test_arrays_of_the_caller_are_written_through_pointers():
    """They may begin anywhere, and a copy would be written in their place."""

    def into(x, y, out):
        for m, n in hl.tile(out.size()):
            out[m, n] = torch.mm(x[m, :], y[:, n])

    x, y, out = normal(64, 64), normal(64, 48, seed=1), torch.zeros(64 * 48 + 1)[1:].view(64, 48)
    kernel = kopt.kernel(into, target="triton:interpret")
    kernel(x, y, out)
    torch.testing.assert_close(out, x @ y, atol=1e-4, rtol=1e-4)
    assert described(kernel, x, y, out) == 2


def test_chips_without_them():
    specs = ("bf16[512,512]", "bf16[512,512]")
    for chip, count in {"sm80": 0, "sm89": 0, "gfx942": 0, "sm90": 3, "sm100": 3}.items():
        assert product.lower(*specs, target=f"triton:{chip}").source.count("TensorDescriptor(") == count


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["sm90", "sm100", "sm103"])
def test_they_compile(chip):
    for kernel, specs in [(product, ("bf16[500,520]", "bf16[520,504]")), (scores, ("f16[4,500,64]", "f16[4,500,64]"))]:
        report = kernel.lower(*specs, target=f"triton:{chip}").report()
        assert report["legal"], report["reason"]
