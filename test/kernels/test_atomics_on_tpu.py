"""``hl.atomic_*`` and split reductions from Python, on the Pallas interpreters."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl


def split_matmul(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    (m, k), (_, n) = x.shape, y.shape
    out = torch.zeros([m, n], dtype=x.dtype, device=x.device)
    for tile_m, tile_n, outer in hl.tile([m, n, k], block_size=[32, 128, 128]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for inner in hl.tile(outer.begin, outer.end, block_size=64):
            acc = torch.addmm(acc, x[tile_m, inner], y[inner, tile_n])
        hl.atomic_add(out, [tile_m, tile_n], acc)
    return out


def column_stats(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    m, n = x.shape
    total = torch.zeros([n], dtype=torch.float32, device=x.device)
    top = torch.full([n], -torch.inf, dtype=torch.float32, device=x.device)
    for tile_m, tile_n in hl.tile([m, n], block_size=[16, 128]):
        block = x[tile_m, tile_n]
        hl.atomic_add(total, [tile_n], torch.sum(block, 0))
        hl.atomic_max(top, [tile_n], torch.amax(block, 0))
    return total, top


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("loop_type", ["auto", "fori", "pipeline"])
def test_split_matmul(dtype: torch.dtype, loop_type: str) -> None:
    pytest.importorskip("jax")
    torch.manual_seed(0)
    x, y = torch.randn(40, 300, dtype=dtype), torch.randn(300, 200, dtype=dtype)
    low = kopt.kernel(split_matmul).lower(x, y, target="pallas:interpret", config={"loop_type": loop_type})
    exact = x.double() @ y.double()
    error = (low.compile()(x, y).double() - exact).abs().max()
    assert error <= (0.25 if dtype == torch.bfloat16 else 1e-3)


@pytest.mark.parametrize(
    "target", ["pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow), "triton:interpret"]
)
def test_column_stats(target: str) -> None:
    pytest.importorskip("jax" if target.startswith("pallas") else "triton")
    torch.manual_seed(0)
    x = torch.randn(50, 200)
    total, top = kopt.kernel(column_stats).lower(x, target=target).compile()(x)
    torch.testing.assert_close(total, x.sum(0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(top, x.amax(0), rtol=0, atol=0)
