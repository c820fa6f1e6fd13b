"""Items whose rows are planes, ``x[rows, heads, width]``: blocks begin at any row, and larger arrays stay in HBM."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.test_jagged import TARGETS, items


def normalised(x, offsets, scale):
    """Each plane over what the item's planes add up to, head by head; rows of no item stay 0."""
    heads, width = hl.specialize(x.size(1)), hl.specialize(x.size(2))
    out = torch.zeros_like(x)
    for item in hl.grid(offsets.size(0) - 1):
        begin, end = offsets[item], offsets[item + 1]
        total = hl.zeros([heads, width], dtype=torch.float32)
        for rows in hl.tile(begin, end):
            total = total + x[rows, :, :].to(torch.float32).sum(0)
        for rows in hl.tile(begin, end):
            out[rows, :, :] = (x[rows, :, :].to(torch.float32) / total * scale[item]).to(x.dtype)
    return out


def causal(x, offsets, scale):
    """Each plane times the sum of those of its item up to its block's end: inner loops end where a block does."""
    heads, width = hl.specialize(x.size(1)), hl.specialize(x.size(2))
    out = torch.zeros_like(x)
    for item in hl.grid(offsets.size(0) - 1):
        begin, end = offsets[item], offsets[item + 1]
        for rows in hl.tile(begin, end):
            total = hl.zeros([rows, heads, width], dtype=torch.float32)
            for others in hl.tile(begin, min(end, rows.end)):
                before = rows.index[:, None] >= others.index[None, :]
                total = total + torch.where(before[:, :, None, None], x[others, :, :].float()[None], 0.0).sum(1)
            out[rows, :, :] = (total * scale[item]).to(x.dtype)
    return out


def expected(kernel, x, offsets, scale):
    out = torch.zeros_like(x)
    for part, target, factor in zip(items(x, offsets), items(out, offsets), scale, strict=True):
        values = part.float()
        target[:] = factor * (values / values.sum(0) if kernel is normalised else values.cumsum(0))
    return out


def check(kernel, target: str) -> None:
    offsets = torch.tensor([1, 4, 4, 25, 26, 37], dtype=torch.int32)
    x, scale = 1 + torch.rand(39, 3, 20), torch.rand(5)
    found = kopt.kernel(kernel, target=target, config={"block_sizes": [8, 4]})(x, offsets, scale)
    torch.testing.assert_close(found, expected(kernel, x, offsets, scale), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [normalised, causal])
def test_blocks_begin_anywhere(kernel, target) -> None:
    check(kernel, target)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [normalised, causal])
def test_copies_are_waited_for(kernel) -> None:
    check(kernel, "pallas:strict")


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [normalised, causal])
@pytest.mark.parametrize("chip", ["tpu7x", "v5e"])
def test_arrays_beyond_vmem(kernel, chip) -> None:
    """160 MB of which blocks come and go."""
    specs = ("bf16[160000,4,128]", "i32[6]", "f32[5]")
    lowered = kopt.kernel(kernel, config={"block_sizes": [64, 32]}).lower(*specs, target=f"pallas:{chip}")
    report = lowered.report(estimates=False)
    assert report["legal"], report["reason"]
    assert "make_async_copy" in lowered.source
