"""Loops that end before they begin visit nothing, as Python's do: known at import, or when the kernel runs."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ["reference", "eager", "pallas:interpret", "pallas:strict", "triton:interpret"]
X = torch.arange(12.0)


def of_tiles(x, bounds, first: int, last: int):
    out = torch.ones(12)
    for i in hl.tile(first, last):
        out[i] = x[i]
    return out


def of_numbers(x, bounds, first: int, last: int):
    out = torch.ones(12)
    for i in hl.grid(first, last):
        out[i] = x[i]
    return out


def one_of_two(x, bounds, first: int, last: int):
    out = torch.ones(12)
    for i, j in hl.tile([0, first], [12, last]):
        out[i] = x[j].sum()
    return out


def inside(x, bounds, first: int, last: int):
    out = torch.zeros(12)
    for i in hl.tile(12):
        total = hl.full([i], 1.0, dtype=torch.float32)
        for j in hl.tile(first, last):
            total = total + x[j].sum()
        out[i] = total
    return out


def by_data(x, bounds, first: int, last: int):
    out = torch.zeros(12)
    for i in hl.tile(12):
        total = hl.full([i], 1.0, dtype=torch.float32)
        for j in hl.tile(bounds[0], bounds[1]):
            total = total + x[j].sum()
        out[i] = total
    return out


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kernel", [of_tiles, of_numbers, one_of_two, inside, by_data], ids=lambda kernel: kernel.__name__
)
def test_they_visit_nothing(kernel, target: str) -> None:
    for first, last in ((10, 3), (0, -2)):
        bounds = torch.tensor([first, last], dtype=torch.int32)
        assert torch.equal(kopt.kernel(kernel).on(target)(X, bounds, first, last), torch.ones(12))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("most", [0, 2], ids=["never", "twice"])
def test_blocks_are_larger_than_what_is_walked(target: str, most: int) -> None:
    """A loop up to a number that is known to be at most ``most`` stores blocks of 4 into a dimension of 3."""

    def kernel(x, number):
        out = torch.zeros(3, 8, 8)
        for columns in hl.tile(8, block_size=4):
            for rows in hl.tile(number[0].clamp(0, most), block_size=4):
                out[rows, :, columns] = x[rows, :, columns]
        return out

    x = torch.arange(192.0).reshape(3, 8, 8)
    got = kopt.kernel(kernel).on(target)(x, torch.tensor([5], dtype=torch.int32))
    assert torch.equal(got, torch.where(torch.arange(3)[:, None, None] < most, x, 0.0))
