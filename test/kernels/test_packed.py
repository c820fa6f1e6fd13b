"""Packed kernels on every CPU target beside torch: groups of no rows, one group, a huge one among tiny ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
from kopt.dtypes import by_name
from kopt.runtime.tolerance import mismatch
from test.kernels import packed_kernels as kernels

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
#: Where the first item starts, and their lengths.
LENGTHS: dict[str, tuple[int, list[int]]] = {
    "mixed": (0, [3, 0, 8, 5]),
    "one": (0, [7]),
    "empty": (2, [0, 0]),
    "huge": (3, [1, 37, 0, 2]),
}
SPECS = {torch.float32: by_name("f32"), torch.bfloat16: by_name("bf16")}


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def bounds(offsets: torch.Tensor) -> list[tuple[int, int]]:
    return list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))


def products(x: torch.Tensor, y: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return torch.stack([x[a:b].float().T @ y[a:b].float() for a, b in bounds(offsets)]).to(x.dtype)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, offsets: torch.Tensor, causal: bool) -> torch.Tensor:
    out = torch.zeros_like(q)
    for a, b in bounds(offsets):
        if a < b:
            parts = (part[a:b].float().transpose(0, 1)[None] for part in (q, k, v))
            found = torch.nn.functional.scaled_dot_product_attention(*parts, is_causal=causal)
            out[a:b] = found[0].transpose(0, 1).to(q.dtype)
    return out


def grouped(x: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    out = torch.zeros([x.size(0), weights.size(2)])
    for weight, (a, b) in zip(weights.float(), bounds(offsets), strict=True):
        out[a:b] = x[a:b].float() @ weight
    return out.to(x.dtype)


def routed(x: torch.Tensor, weights: torch.Tensor, tokens: torch.Tensor, offsets: torch.Tensor, _: int) -> torch.Tensor:
    out = torch.zeros([x.size(0), weights.size(2)])
    for weight, (a, b) in zip(weights.float(), bounds(offsets), strict=True):
        out[tokens[a:b]] = x[tokens[a:b]].float() @ weight
    return out.to(x.dtype)


Case = tuple[Callable[..., Any], Callable[..., torch.Tensor], Callable[..., tuple[Any, ...]], list[int]]
#: A kernel, the same in torch, the arguments for offsets, a number of rows and a dtype, and block sizes.
CASES: dict[str, Case] = {
    "jagged_jagged_bmm": (
        kernels.jagged_jagged_bmm,
        products,
        lambda offsets, rows, dtype: (random(rows, 20, dtype=dtype), random(rows, 24, dtype=dtype, seed=1), offsets),
        [16, 16, 8],
    ),
    "attention": (
        kernels.packed_attention,
        attention,
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, False),
        [16, 8],
    ),
    "causal": (
        kernels.packed_attention,
        attention,
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, True),
        [16, 8],
    ),
    "padded": (
        kernels.packed_attention_padded,
        lambda q, k, v, offsets, _: attention(q, k, v, offsets, True),
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets, int(offsets.diff().max())),
        [16, 8],
    ),
    "grouped": (
        kernels.grouped_matmul,
        grouped,
        lambda offsets, rows, dtype: (
            random(rows, 20, dtype=dtype),
            random(len(offsets) - 1, 20, 24, dtype=dtype, seed=1) / 4,
            offsets,
        ),
        [8, 16, 16],
    ),
    "routed": (
        kernels.routed_matmul,
        routed,
        lambda offsets, rows, dtype: (
            random(rows, 20, dtype=dtype),
            random(len(offsets) - 1, 20, 24, dtype=dtype, seed=1) / 4,
            torch.randperm(rows, generator=torch.Generator().manual_seed(2)),
            offsets,
            int(offsets.diff().max()),
        ),
        [8, 16, 16],
    ),
}


def check(name: str, target: str, lengths: str, dtype: torch.dtype, offset_dtype: torch.dtype) -> None:
    kernel, expected, make, blocks = CASES[name]
    first, counts = LENGTHS[lengths]
    offsets = (torch.tensor([0, *counts]).cumsum(0) + first).to(offset_dtype)
    arguments = make(offsets, int(offsets[-1]) + 2, dtype)
    low = kopt.kernel(kernel).lower(*arguments, target=target, config={"block_sizes": blocks})
    found, wanted = low.compile()(*arguments), expected(*arguments)
    assert found.dtype == wanted.dtype
    assert mismatch(found, wanted, SPECS[wanted.dtype], 64) is None


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, target, lengths) -> None:
    """Rows of f32 with 64-bit offsets."""
    check(name, target, lengths, torch.float32, torch.int64)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_narrow_types(name, target) -> None:
    check(name, target, "mixed", torch.bfloat16, torch.int32)
