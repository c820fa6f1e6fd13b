"""Methods of the host's tensors inside loops: numbers are loaded and cast there, longer ones are cast before."""

from __future__ import annotations

import pytest
import torch

import kopt.language as hl

from .support import imported, reference

X = torch.randn(8, 16)
CASTS = {
    "float": lambda v: v.float(),
    "to": lambda v: v.to(torch.float32),
    "to, by name": lambda v: v.to(dtype=torch.float32),
    "type": lambda v: v.type(torch.float32),
    "int": lambda v: v.int().float(),
    "long": lambda v: v.long().float(),
}


@pytest.mark.parametrize("cast", CASTS)
@pytest.mark.parametrize("of", [torch.tensor(2.5, dtype=torch.float16), torch.arange(16).half() / 4])
def test_casts(cast: str, of: torch.Tensor) -> None:
    change = CASTS[cast]

    def scaled(x, by):
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = x[i, :] * (change(by) if by.ndim == 0 else change(by)[:])
        return out

    torch.testing.assert_close(reference(scaled, X, of), X * change(of))
    names = {op.name for op in imported(scaled, X, of).module.walk()}
    assert ("host.copy" in names) is (of.ndim > 0) and ("tile.cast" in names) is (of.ndim == 0)


@pytest.mark.parametrize(
    ("moved", "copies"),
    [
        (lambda v: v.to("cpu"), 0),
        (lambda v: v.to(torch.device("cpu")), 0),
        (lambda v: v.to("cpu", dtype=torch.float32), 1),
        (lambda v: v.to("cpu", torch.float32), 1),
        (lambda v: v.to(torch.float32), 1),
        (lambda v: v.to(dtype=torch.float32), 1),
        (lambda v: v.to(), 0),
        (lambda v: v.cuda(), 0),
    ],
    ids=range(8),
)
def test_a_device_is_none_of_a_kernels(moved, copies: int) -> None:
    """Moved to a device, a tensor is what it was; a dtype beside it casts."""
    by = torch.arange(16).half() / 4

    def scaled(x, by):
        by = moved(by)
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            out[i, :] = x[i, :] * by[:]
        return out

    names = [op.name for op in imported(scaled, X, by).module.walk()]
    assert names.count("host.copy") == copies
    torch.testing.assert_close(reference(scaled, X, by), X * by)
