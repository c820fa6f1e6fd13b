"""Jagged kernels whose rows are no slices: a remark says which expression is in the way, and the results are right."""

from __future__ import annotations

import inspect
import re

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.test_jagged import TARGETS, items, random


def picked(x, offsets, order):
    """Sums of each item's rows, which an array numbers."""
    out = torch.empty([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for b, m in hl.tile([offsets.size(0) - 1, x.size(1)]):
        starts = offsets[b]
        total = hl.zeros([b, m], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            place = order[starts[:, None] + k.index[None, :]]  # in the way
            total = total + x[place, m].sum(1)
        out[b, m] = total
    return out


def every_second(x, offsets, order):
    """Sums of every second row of each item."""
    out = torch.empty([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for b, m in hl.tile([offsets.size(0) - 1, x.size(1)]):
        starts = offsets[b]
        total = hl.zeros([b, m], dtype=torch.float32)
        for k in hl.jagged_tile((offsets[b.index + 1] - starts + 1) // 2):
            total = total + x[starts[:, None] + k.index[None, :] * 2, m].sum(1)
        out[b, m] = total
    return out


def mirrored(x, offsets, order):
    """Each item's rows the other way round; 0 in rows of none."""
    out = torch.zeros_like(x)
    for b, m in hl.tile([offsets.size(0) - 1, x.size(1)]):
        starts, ends = offsets[b], offsets[b.index + 1]
        for k in hl.jagged_tile(ends - starts):
            value = x[starts[:, None] + k.index[None, :], m]
            out[ends[:, None] - 1 - k.index[None, :], m] = value
    return out


def wrapped(x, offsets, order):
    """Sums of each item's rows, those beyond the fourth counted from the first again."""
    out = torch.empty([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for b, m in hl.tile([offsets.size(0) - 1, x.size(1)]):
        starts = offsets[b]
        total = hl.zeros([b, m], dtype=torch.float32)
        for k in hl.jagged_tile(offsets[b.index + 1] - starts):
            again = k.index % 4  # in the way
            total = total + x[starts[:, None] + again[None, :], m].sum(1)
        out[b, m] = total
    return out


def sums(parts) -> torch.Tensor:
    return torch.stack([part.sum(0) for part in parts])


def turned(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    for part, target in zip(items(x, offsets), items(out, offsets), strict=True):
        target[:] = part.flip(0)
    return out


CASES = {
    "picked": (picked, lambda x, offsets, order: sums(items(x[order], offsets))),
    "every_second": (every_second, lambda x, offsets, order: sums(part[::2] for part in items(x, offsets))),
    "mirrored": (mirrored, lambda x, offsets, order: turned(x, offsets)),
    "wrapped": (
        wrapped,
        lambda x, offsets, order: sums(part[torch.arange(len(part)) % 4] for part in items(x, offsets)),
    ),
}


def arguments() -> tuple[torch.Tensor, ...]:
    offsets = torch.tensor([2, 5, 5, 14, 15], dtype=torch.int32)
    order = torch.randperm(17, generator=torch.Generator().manual_seed(1)).to(torch.int32)
    return random(17, 20), offsets, order


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_as_torch(name, target) -> None:
    kernel, expected = CASES[name]
    found = kopt.kernel(kernel, target=target, config={"block_sizes": [2, 16, 8]})(*arguments())
    torch.testing.assert_close(found, expected(*arguments()))


#: Why rows are no slices, and where that is computed.
REASONS = {
    "picked": (r"'place' at line (\d+), column \d+, picks rows one by one", picked),
    "every_second": ("'k' goes in steps of 2", None),
    "mirrored": ("'k' goes in steps of -1", None),
    "wrapped": (r"'again' at line (\d+), column \d+, picks rows one by one", wrapped),
}


@pytest.mark.parametrize("target", ["pallas:tpu7x", "triton:sm90"])
@pytest.mark.parametrize("name", CASES)
def test_a_remark_names_the_expression(name, target) -> None:
    low = kopt.kernel(CASES[name][0]).lower(*arguments(), target=target)
    (remark,) = [remark for remark in low.remarks if "not by slices of rows" in remark.message]
    reason, kernel = REASONS[name]
    found = re.search(reason, remark.message)
    assert found and remark.location.file == __file__
    if kernel is not None:
        lines, first = inspect.getsourcelines(kernel)
        assert "# in the way" in lines[int(found[1]) - first]
