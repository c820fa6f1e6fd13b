"""Loops with a computed end whose first visits need no masks: on every target the values are those of torch."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("triton:interpret", "pallas:interpret")
X = torch.arange(512 * 512.0).reshape(512, 512) % 97 - 40


@kopt.kernel
def lower_sums(x: torch.Tensor) -> torch.Tensor:
    """The sums of a lower triangle's rows."""
    n = x.size(0)
    out = torch.empty([n], dtype=x.dtype)
    for i in hl.tile(n):
        total = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(0, i.end):
            seen = i.index[:, None] >= j.index[None, :]
            total = total + torch.where(seen, x[i, j], 0.0).sum(1)
        out[i] = total
    return out


@kopt.kernel
def band_sums(x: torch.Tensor, width: hl.constexpr) -> torch.Tensor:
    """The sums of a band below the diagonal."""
    n = x.size(0)
    out = torch.empty([n], dtype=x.dtype)
    for i in hl.tile(n):
        total = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(0, i.end):
            rows, columns = i.index[:, None], j.index[None, :]
            seen = (rows >= columns) & (rows - columns < width)
            total = total + torch.where(seen, x[i, j], 0.0).sum(1)
        out[i] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("n", "blocks", "loops"), [(384, (128, 128), 2), (512, (256, 128), 2), (300, (128, 128), 1)])
def test_triangles(target: str, n: int, blocks: tuple[int, int], loops: int) -> None:
    x = X[:n, :n].contiguous()
    low = lower_sums.lower(x, target=target, config={"block_sizes": list(blocks)})
    peeled = dict(low.stages())["peel-loops"]
    assert peeled.count("tile.for") == loops
    found = low.compile()(x)
    torch.testing.assert_close(found, x.tril().sum(1), rtol=0, atol=0)  # whole numbers


@pytest.mark.parametrize("target", TARGETS)
def test_bands(target: str) -> None:
    found = band_sums.lower(X, 20, target=target, config={"block_sizes": [128, 128]}).compile()(X, 20)
    torch.testing.assert_close(found, (X.tril() - X.tril(-20)).sum(1), rtol=0, atol=0)
