"""Methods of the host's tensors inside loops: numbers are loaded and cast there, longer ones are cast before."""

from __future__ import annotations

import pytest
import torch

import kopt
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


@pytest.mark.parametrize(
    "of",
    [
        lambda v, t: torch.where(v > 0, t, 0),
        lambda v, t: torch.maximum(v.int(), t),
        lambda v, t: torch.stack([t, t]).sum(0),
    ],
)
def test_a_tile_is_its_numbers(of) -> None:
    """Where a function takes a tensor."""

    def numbers(x):
        out = torch.empty_like(x, dtype=torch.int32)
        for i in hl.tile(x.size(0), block_size=4):
            out[i] = of(x[i], i)
        return out

    x = torch.linspace(-3, 12, 16)
    wanted = of(x, torch.arange(16)).to(torch.int32)
    torch.testing.assert_close(reference(numbers, x), wanted)


@pytest.mark.parametrize(("other", "same"), [("".join(("flo", "or")), True), ("trunc", False)])
def test_words_that_are_equal_on_both_paths_are_one(other: str, same: bool) -> None:
    def divided(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=4):
            if x[0, 0] > 0:
                mode = "floor"
            else:
                mode = other
            out[i, :] = torch.div(x[i, :], 0.3, rounding_mode=mode)
        return out

    if same:
        torch.testing.assert_close(reference(divided, X), torch.div(X, 0.3, rounding_mode="floor"))
    else:
        with pytest.raises(kopt.KoptError, match="'mode' is str 'floor' on one path and str 'trunc' on the other"):
            reference(divided, X)
