"""Block sizes that are divisors of an extent, and no powers of two."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.test_atomics_strict import matmul

TARGETS = ["reference", "pallas:interpret", "pallas:strict"]


def shifted(x, b):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        out[i, j] = torch.exp(x[i, j]) + b[j]
    return out


def normalised(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        top = hl.full([i], -torch.inf, dtype=torch.float32)
        total = hl.zeros([i])
        for j in hl.tile(x.size(1)):
            new = torch.maximum(top, x[i, j].amax(1))
            total = total * torch.exp(top - new) + torch.exp(x[i, j] - new[:, None]).sum(1)
            top = new
        for j in hl.tile(x.size(1)):
            out[i, j] = torch.exp(x[i, j] - top[:, None]) / total[:, None]
    return out


def sizes(kernel, *args, target: str = "pallas:v6e") -> tuple[int, ...]:
    found = kopt.kernel(kernel).lower(*args, target=target).config.block_sizes
    assert found is not None
    return found


@pytest.mark.parametrize("target", TARGETS)
def test_lanes_and_a_vector_of_them(target: str) -> None:
    x, b = torch.randn(16, 2560), torch.randn(2560)
    assert 2560 % sizes(shifted, x, b)[1] == 0
    for config in ({}, {"block_sizes": [16, 1280]}):
        torch.testing.assert_close(kopt.kernel(shifted, config=config).on(target)(x, b), x.exp() + b)


@pytest.mark.parametrize("target", TARGETS)
def test_products(target: str) -> None:
    x, y = torch.randn(24, 768), torch.randn(768, 640)
    n, k = sizes(matmul, x, y)[1:]
    assert 640 % n == 768 % k == 0
    for config in ({}, {"block_sizes": [24, 640, 384]}):
        torch.testing.assert_close(kopt.kernel(matmul, config=config).on(target)(x, y), x @ y, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_loops(target: str) -> None:
    x = torch.randn(16, 1536)
    assert 1536 % sizes(normalised, x)[1] == 0
    torch.testing.assert_close(kopt.kernel(normalised).on(target)(x), x.softmax(1))


@pytest.mark.parametrize("columns", [2500, 10007])
def test_extents_without_divisors_keep_powers_of_two(columns: int) -> None:
    lanes = sizes(shifted, f"f32[512,{columns}]", f"f32[{columns}]")[1]
    assert lanes & (lanes - 1) == 0


def test_a_gpu_has_powers_of_two() -> None:
    found = sizes(shifted, "f32[4096,2560]", "f32[2560]", target="triton:sm90")
    assert all(size & (size - 1) == 0 for size in found)


def drawn(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        out[i, j] = x[i, j] + hl.rand([i, j], seed=3)
    return out


def summed(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(1)):
        out[:, i] = torch.cumsum(x[:, i], 0)
    return out


@pytest.mark.parametrize("kernel", [drawn, summed])
def test_ops_that_go_by_halves_keep_powers_of_two(kernel) -> None:
    assert all(size & (size - 1) == 0 for size in sizes(kernel, "f32[384,1536]"))
