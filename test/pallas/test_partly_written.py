"""Arrays of which a kernel writes some rows: the others are what they were, and nothing reads what is overwritten."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

FLAGS = torch.tensor([1, 0, 1, 0], dtype=torch.int32)


@kopt.kernel
def first_rows(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    for rows in hl.tile(x.size(0), block_size=32):
        out[rows, :] = x[rows, :] + 1
    return out


@kopt.kernel
def some_blocks(x: torch.Tensor, out: torch.Tensor, flags: torch.Tensor) -> torch.Tensor:
    for rows in hl.tile(x.size(0), block_size=32):
        if flags[rows.id] > 0:
            out[rows, :] = x[rows, :] + 1
    return out


@kopt.kernel
def added_rows(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    for rows in hl.tile(x.size(0), block_size=32):
        out[rows, :] = x[rows, :] + out[rows, :]
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int8])
@pytest.mark.parametrize(
    ("kernel", "rows", "more", "reads"),
    [
        (first_rows, 64, (), False),  # two blocks of 100 rows
        (first_rows, 80, (), True),  # and half of one, whose other half is kept
        (some_blocks, 64, (FLAGS,), True),  # one of them
        (added_rows, 64, (), True),
    ],
)
def test_other_rows_stay(kernel: kopt.Kernel, rows: int, more: tuple, reads: bool, dtype: torch.dtype) -> None:
    x = torch.arange(rows * 128).reshape(rows, 128).remainder(50).to(dtype)
    out = (torch.arange(100 * 128).reshape(100, 128).remainder(31) + 40).to(dtype)
    wanted = kernel.on("eager")(x, out.clone(), *more)
    for target in ("reference", "pallas:interpret", "pallas:strict"):
        assert torch.equal(kernel.on(target)(x, out.clone(), *more), wanted)
    source = kernel.lower(x, out, *more, target="pallas:v6e").source
    body, call = source.split("pl.pallas_call(")
    assert [" = out_ref[...]" in body, "memory_space=pltpu.HBM" not in call] == [reads, reads]
