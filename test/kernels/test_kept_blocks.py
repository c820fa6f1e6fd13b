"""Rows that two loops walk: VMEM keeps what the first one loads, where it has no room for windows of whole rows."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

#: v4 has 16 MiB, half of it for windows: 8 rows of 4.5 MiB fit once, and not twice.
COLUMNS = 147456


def centred(x, scale):
    """Rows less their mean, times a scale; ``x`` is loaded by two loops, the scale by one."""
    m, n = x.size()
    out = torch.empty_like(x)
    block_n = hl.register_block_size(n)
    for rows in hl.tile(m):
        total = hl.zeros([rows], dtype=torch.float32)
        for cols in hl.tile(n, block_size=block_n):
            total += x[rows, cols].sum(1)
        for cols in hl.tile(n, block_size=block_n):
            out[rows, cols] = (x[rows, cols] - total[:, None] / n) * scale[rows, cols]
    return out


@pytest.mark.parametrize(("mode", "rows"), [("interpret", 16), ("strict", 13)])
def test_rows_are_kept_for_the_second_loop(mode: str, rows: int) -> None:
    x = torch.randint(-8, 8, (rows, COLUMNS), generator=torch.Generator().manual_seed(0)).float()
    scale = torch.arange(rows)[:, None] + torch.zeros([1, COLUMNS])
    kernel = kopt.kernel(centred, target=f"pallas:{mode}@v4", config={"block_sizes": [16384, 8]})
    text = kernel.lower(x, scale).source
    assert "kept_x_ref" in text and "kept_scale_ref" not in text
    # The sum of a row is exact, its mean is rounded once, and so is the difference.
    torch.testing.assert_close(kernel(x, scale), (x - x.mean(1, keepdim=True)) * scale, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("columns", [4096, COLUMNS + 1, 1 << 20], ids=["windows fit", "part of a block", "too large"])
def test_rows_are_not_kept(columns: int) -> None:
    kernel = kopt.kernel(centred, target="pallas:v4", config={"block_sizes": [2048, 8]})
    assert "kept_x" not in kernel.lower(f"f32[8,{columns}]", f"f32[8,{columns}]").source


def test_rows_that_two_loops_walk_come_in_large_blocks() -> None:
    low = kopt.kernel(centred, target="pallas:tpu7x").lower("f32[8,1048576]", "f32[8,1048576]")
    columns, _ = low.config.block_sizes
    assert columns >= 8192, "a visit takes hundreds of cycles beside its work"
