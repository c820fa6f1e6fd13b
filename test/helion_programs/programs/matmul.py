"""Products with an epilogue: one of several configurations, a tuned one that is saved and loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import helion
import helion.language as hl
import torch
from helion._testing import DEVICE, run_example

Epilogue = Callable[[torch.Tensor, tuple[torch.Tensor, ...]], torch.Tensor]


@helion.kernel(
    static_shapes=True,
    configs=[
        helion.Config(block_sizes=[64, 64, 32], num_warps=4, num_stages=3),
        helion.Config(block_sizes=[128, 64, 64], num_warps=8),
    ],
)
def matmul(x: torch.Tensor, y: torch.Tensor, epilogue: Epilogue = lambda acc, tile: acc) -> torch.Tensor:
    m, k = x.size()
    k2, n = y.size()
    assert k == k2, f"size mismatch {k} != {k2}"
    out = torch.empty([m, n], dtype=torch.promote_types(x.dtype, y.dtype), device=x.device)
    for tile_m, tile_n in hl.tile([m, n]):
        acc = hl.zeros([tile_m, tile_n], dtype=torch.float32)
        for tile_k in hl.tile(k):
            acc = torch.addmm(acc, x[tile_m, tile_k], y[tile_k, tile_n])
        out[tile_m, tile_n] = epilogue(acc, (tile_m, tile_n))
    return out


@helion.kernel(autotune_effort="none")
def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = x[tile] * factor
    return out


def main(folder: str) -> None:
    x = torch.randn([100, 96], device=DEVICE, dtype=torch.float16)
    y = torch.randn([96, 80], device=DEVICE, dtype=torch.float16)
    bias = torch.randn([80], device=DEVICE, dtype=torch.float16)
    run_example(matmul, torch.matmul, (x, y))
    run_example(
        lambda x, y: matmul(x, y, lambda acc, tile: torch.relu(acc + bias[tile[1]])),
        lambda x, y: torch.relu(x @ y + bias),
        (x, y),
    )
    best = scaled.autotune((x, 2.0), force=True)
    best.save(Path(folder) / "best.json")
    loaded = helion.Config.load(Path(folder) / "best.json")
    tuned = helion.kernel(scaled.fn, config=loaded)
    torch.testing.assert_close(tuned(x, 3.0), x * 3.0)
    print("matmul: equal", best == loaded)


if __name__ == "__main__":
    main(sys.argv[1])
