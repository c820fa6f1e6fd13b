"""Slices of the host that kernels read from the whole array: what is beyond the slice is never counted."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl


def row_sums(x, rows: hl.constexpr, columns: hl.constexpr):
    x = x[:rows, :columns]
    out = torch.empty([rows], dtype=torch.float32)
    for i in hl.tile(rows):
        total = hl.zeros([i], dtype=torch.float32)
        for j in hl.tile(columns):
            total += x[i, j].to(torch.float32).sum(1)
        out[i] = total
    return out


def product(x, y, sums: hl.constexpr):
    x, y = x[:, :sums], y[:sums, :-3]
    out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
    for i, j in hl.tile(out.size()):
        acc = hl.zeros([i, j], dtype=torch.float32)
        for k in hl.tile(sums):
            acc = torch.addmm(acc, x[i, k], y[k, j])
        out[i, j] = acc
    return out


def largest(x):
    x = x[:-1]
    out = torch.empty([x.size(1)], dtype=x.dtype)
    for j in hl.tile(x.size(1)):
        best = hl.full([j], float("-inf"), dtype=torch.float32)
        for i in hl.tile(x.size(0)):
            best = torch.maximum(best, x[i, j].to(torch.float32).amax(0))
        out[j] = best.to(x.dtype)
    return out


def beyond(shape, kept, dtype) -> torch.Tensor:
    """An array that is NaN beyond what is kept."""
    x = torch.full(shape, float("nan"), dtype=dtype)
    x[tuple(slice(n) for n in kept)] = torch.randn(kept).to(dtype)
    return x


CASES = {
    "rows": (row_sums, lambda dtype: (beyond([70, 300], [53, 300], dtype), 53, 300), [8, 128]),
    "columns": (row_sums, lambda dtype: (beyond([64, 700], [64, 301], dtype), 64, 301), [16, 128]),
    "less than a block": (row_sums, lambda dtype: (beyond([41, 129], [3, 20], dtype), 3, 20), [8, 128]),
    "sums": (
        product,
        lambda dtype: (beyond([40, 400], [40, 260], dtype), beyond([300, 131], [260, 128], dtype), 260),
        [16, 128, 128],
    ),
    "all but the last": (largest, lambda dtype: (beyond([257, 300], [256, 300], dtype),), [128, 64]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", CASES)
def test_what_is_beyond_a_slice_counts_nowhere(name: str, dtype: torch.dtype) -> None:
    kernel, arguments, blocks = CASES[name]
    args = arguments(dtype)
    wanted = kopt.kernel(kernel, target="eager")(*args)
    assert not wanted.isnan().any()
    for target in ("reference", "pallas:interpret"):
        found = kopt.kernel(kernel, target=target, config={"block_sizes": blocks})(*args)
        torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)  # sums of hundreds of f32 in another order


@pytest.mark.parametrize("name", ["rows", "columns", "all but the last"])
def test_chips_copy_no_slice(name: str) -> None:
    kernel, arguments, blocks = CASES[name]
    args = arguments(torch.bfloat16)
    for config in (None, {"block_sizes": blocks}):
        low = kopt.kernel(kernel).lower(*args, target="pallas:v6e", config=config)
        assert "[:" not in low.source.partition("pallas_call")[0].rpartition("def ")[2]
        assert low.report(estimates=False)["legal"]
