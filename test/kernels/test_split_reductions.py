"""Reductions that are dealt out to several programs of a GPU give what torch does, and so does what follows them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import kopt
import kopt.language as hl

COLUMNS = 70_003


def sums(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        out[i] = x[i, :].to(torch.float32).sum(-1)
    return out


def spread(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = (torch.empty([x.size(0)], dtype=x.dtype) for _ in range(2))
    for i in hl.tile(x.size(0)):
        low[i], high[i] = x[i, :].amin(-1), x[i, :].amax(-1)
    return low, high


def product(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty([x.size(0)], dtype=x.dtype)
    for i in hl.tile(x.size(0)):
        out[i] = torch.prod(x[i, :], -1)
    return out


def places(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = (torch.empty([x.size(0)], dtype=torch.int64) for _ in range(2))
    for i in hl.tile(x.size(0)):
        low[i], high[i] = x[i, :].argmin(-1), x[i, :].argmax(-1)
    return low, high


def softmax(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = torch.softmax(x[i, :].to(torch.float32), -1).to(x.dtype)
    return out


def standardised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two reductions, one after the other, then rows; and a result beside the loop that writes them."""
    out, means = torch.empty_like(x), torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0)):
        row = x[i, :].to(torch.float32)
        mean = row.mean(-1)
        centred = row - mean[:, None]
        out[i, :] = (centred * torch.rsqrt((centred * centred).mean(-1) + 1e-5)[:, None]).to(x.dtype)
        means[i] = mean
    return out, means


def normalise_in_place(x: torch.Tensor) -> None:
    for i in hl.tile(x.size(0)):
        row = x[i, :]
        x[i, :] = row / row.abs().sum(-1)[:, None]


def torch_standardised(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.nn.functional.layer_norm(x.float(), [x.size(1)]).to(x.dtype), x.float().mean(-1)


CASES: dict[str, tuple[Callable[..., object], Callable[..., object], int]] = {
    "sums": (sums, lambda x: x.float().sum(-1), 2),
    "spread": (spread, lambda x: (x.amin(-1), x.amax(-1)), 2),
    "product": (product, lambda x: torch.prod(x, -1), 2),
    "places": (places, lambda x: (x.argmin(-1), x.argmax(-1)), 2),
    "softmax": (softmax, lambda x: torch.softmax(x.float(), -1).to(x.dtype), 2),
    "standardised": (standardised, torch_standardised, 3),
}


def numbers(name: str, rows: int = 2) -> torch.Tensor:
    x = torch.randn(rows, COLUMNS, generator=torch.Generator().manual_seed(0))
    return 1 + x / 512 if name == "product" else x.round(decimals=2)


@pytest.mark.parametrize("split_k", [3, 64])
@pytest.mark.parametrize("name", CASES)
def test_parts_give_what_torch_does(name: str, split_k: int) -> None:
    """Of 70,003 columns, which no block and no number of parts divides, ties included."""
    function, reference, launches = CASES[name]
    x = numbers(name)
    config = {"split_k": split_k, "deterministic": True, "block_sizes": [1]}
    low = kopt.kernel(function, config=config).lower(x, target="triton:interpret")
    assert low.source.count("_kernel[") == launches
    torch.testing.assert_close(low.compile()(x), reference(x), rtol=2e-4, atol=2e-4)
