"""Stores to boxes of elements by computed numbers, whose sizes are no whole registers."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl


def boxes(offsets: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    for group in hl.grid(offsets.size(0)):
        rows = offsets[group] + hl.arange(4)
        values = (hl.arange(4)[:, None, None] + hl.arange(5)[None, :, None] - hl.arange(6)[None, None, :]).to(out.dtype)
        mask = (rows < out.size(0))[:, None, None]
        hl.store(out, [rows, hl.arange(5), hl.arange(6)], values, extra_mask=mask.expand(4, 5, 6))
    return out


def _arguments(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.tensor([4, 0, 10], dtype=torch.int32), torch.zeros(12, 5, 7, dtype=dtype)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_as_torch(dtype: torch.dtype) -> None:
    offsets, out = _arguments(dtype)
    box = torch.arange(4)[:, None, None] + torch.arange(5)[None, :, None] - torch.arange(6)[None, None, :]
    wanted = out.clone()
    for first in offsets.tolist():
        wanted[first : first + 4, :, :6] = box[: 12 - first].to(dtype)
    assert torch.equal(kopt.kernel(boxes).on("pallas:interpret")(offsets, out), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32])
def test_compiles(dtype: torch.dtype) -> None:
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    report = kopt.kernel(boxes).lower(*_arguments(dtype), target="pallas:tpu7x").report(estimates=False)
    assert report["legal"], report["reason"]
