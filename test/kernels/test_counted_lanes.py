"""Lanes of a ragged block that go to elements which their own numbers count: ``out[i, arange(len(v))]``."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import kopt
import kopt.language as hl


def added(x, out):
    """Elements added to a row of their own."""
    for i in hl.tile(x.size(0), block_size=2):
        hl.atomic_add(out, [i.id, torch.arange(x[i].size(0))], x[i])


def exchanged(x, out):
    """Elements that take the place of others."""
    for i in hl.tile(x.size(0), block_size=2):
        hl.atomic_xchg(out, [i.id, torch.arange(x[i].size(0))], x[i])


def compared(x, out):
    """Elements that take the place of ones."""
    for i in hl.tile(x.size(0), block_size=2):
        hl.atomic_cas(out, [i.id, torch.arange(x[i].size(0))], x[i] * 0 + 1, x[i])


def by_columns(x, out):
    """The largest of each column."""
    for i in hl.tile(x.size(0), block_size=2):
        hl.atomic_max(out, [torch.arange(x[i].size(0)), i.id], x[i])


def products(x, out):
    """Products of a block's elements, in all blocks' rows."""
    for i in hl.tile(x.size(0), block_size=2):
        v, lanes = x[i], torch.arange(x[i].size(0))
        hl.atomic_add(out, [lanes[:, None], lanes[None, :]], v[:, None] * v[None, :])


def stored(x, out):
    """Elements stored."""
    for i in hl.tile(x.size(0), block_size=2):
        out[i.id, torch.arange(x[i].size(0))] = x[i]


def before(x, out):
    """What was there, and then stored."""
    for i in hl.tile(x.size(0), block_size=2):
        lanes = torch.arange(x[i].size(0))
        old = hl.atomic_add(out, [i.id, lanes], x[i])
        out[i.id, lanes] = old + x[i] * 3


@pytest.mark.parametrize("target", ["reference", "triton:interpret", "pallas:interpret"])
@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("kernel", [added, exchanged, compared, by_columns, products, stored, before])
def test_elements_by_the_numbers_of_lanes(kernel: Callable[..., None], size: int, target: str) -> None:
    """Lanes that the last block does not have change nothing."""
    x, out, expected = torch.arange(1.0, size + 1), torch.ones(2, 2), torch.ones(2, 2)
    kopt.kernel(kernel).on(target)(x, out)
    kopt.kernel(kernel).on("eager")(x, expected)
    assert out.tolist() == expected.tolist()
