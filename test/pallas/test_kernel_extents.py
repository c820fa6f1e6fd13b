"""Kernels that compute with extents that differ from call to call: the last row of an array, in each call its own."""

from __future__ import annotations

import torch

import kopt
import kopt.language as hl


def picked(x, ids):
    out = torch.empty([ids.size(0), x.size(1)], dtype=x.dtype)
    for i in hl.tile(ids.size(0), block_size=8):
        out[i, :] = x[ids[i], :]
    return out


def test_rows_by_number_of_an_open_array() -> None:
    kernel = kopt.kernel(picked, target="pallas:interpret", dynamic={"x": 0})
    for rows in (300, 40):
        x, ids = torch.randn(rows, 128), torch.arange(rows - 1, rows - 17, -1, dtype=torch.int32)
        assert torch.equal(kernel(x, ids), x[ids.long()])
    assert "x_size_0 - 1" in kernel.lower(x, ids).source
