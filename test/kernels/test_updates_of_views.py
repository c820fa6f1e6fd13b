"""Atomic updates through views that repeat elements, and of blocks that overlap: each lane's update counts once."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.atomic_cases import random

TARGETS = ["reference", "triton:interpret", "pallas:interpret", pytest.param("pallas:strict", marks=pytest.mark.slow)]
on_targets = pytest.mark.parametrize("target", TARGETS)


def exchanged(out, x, old):
    wide = out[1:2].expand(x.size())
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        old[i, j] = hl.atomic_xchg(wide, [i, j], x[i, j])


def claimed(out, x, old):
    wide = out[1:2].expand(x.size())
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        old[i, j] = hl.atomic_cas(wide, [i, j], -100, x[i, j])


def tickets(out, x, old):
    wide = out[1].expand(x.size())
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        old[i, j] = hl.atomic_add(wide, [i, j], 1)


def tickets_of_one(out, x, old):
    wide = out[1:2, 3:4].expand(x.size())
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        old[i, j] = hl.atomic_add(wide, [i, j], 1)


def sums_of_a_row(out, x, old):
    wide = out[1].expand(x.size())
    for i, j in hl.tile(x.size(), block_size=[8, 16]):
        hl.atomic_add(wide, [i, j], x[i, j])


def overlapping_tickets(out, x, old):
    for i in hl.tile(3, block_size=1):
        for j in hl.tile(16, block_size=8):
            old[i.begin, slice(j.begin, j.begin + 16)] = hl.atomic_add(out, [1, slice(j.begin, j.begin + 16)], 1)


def chain(seen, first, last, terms):
    """Whether each update saw what another one left: all of them in some order, one after the other."""
    return sorted([*seen, last]) == sorted([first, *terms])


def run(kernel, target):
    out, x = random(5, 40, dtype=torch.int32), torch.arange(37 * 40, dtype=torch.int32).view(37, 40)
    before, old = out.clone(), torch.zeros(37, 40, dtype=torch.int32)
    kopt.kernel(kernel).on(target)(out, x, old)
    changed = (out != before).any(1).nonzero().flatten().tolist()
    return before.tolist(), out, x, old, changed


@on_targets
def test_exchange(target):
    before, out, x, old, changed = run(exchanged, target)
    assert changed == [1]
    assert all(chain(old[:, j].tolist(), before[1][j], out[1, j].item(), x[:, j].tolist()) for j in range(40))


@on_targets
def test_compare_and_swap(target):
    out, x = torch.full((5, 40), -100, dtype=torch.int32), torch.arange(37 * 40, dtype=torch.int32).view(37, 40)
    old = torch.zeros(37, 40, dtype=torch.int32)
    kopt.kernel(claimed).on(target)(out, x, old)
    won = old == -100
    assert won.sum(0).tolist() == [1] * 40
    assert torch.equal(out[1], x.t()[won.t()])
    assert (out[[0, 2, 3, 4]] == -100).all()


@on_targets
def test_tickets(target):
    before, out, _, old, changed = run(tickets, target)
    assert changed == [1]
    assert torch.equal(old.sort(0).values, torch.tensor(before[1]) + torch.arange(37)[:, None])
    if target == "pallas:strict":
        return  # fifteen hundred copies one after the other take half a minute, and show no more than these did
    before, out, _, old, changed = run(tickets_of_one, target)
    assert torch.equal(old.flatten().sort().values, before[1][3] + torch.arange(37 * 40))
    assert out[1, 3] == before[1][3] + 37 * 40 and changed == [1]


@on_targets
def test_sums_in_a_new_dimension(target):
    before, out, x, _, changed = run(sums_of_a_row, target)
    assert changed == [1] and out[1].tolist() == (torch.tensor(before[1]) + x.sum(0)).tolist()


@on_targets
def test_blocks_that_overlap(target):
    before, out, _, old, _ = run(overlapping_tickets, target)
    counts = [3] * 8 + [6] * 8 + [3] * 8 + [0] * 16
    assert out[1].tolist() == [a + b for a, b in zip(before[1], counts, strict=True)]
    assert all(len(set(old[:3, j].tolist())) == 3 for j in range(24))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "chip"),
    [
        (kernel, chip)
        for place, kernel in enumerate(
            [exchanged, claimed, tickets, tickets_of_one, sums_of_a_row, overlapping_tickets]
        )
        for chip in (("tpu7x", "v6e")[place % 2], "v5e")
    ],
)
def test_compiles(kernel, chip):
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    low = kopt.kernel(kernel).lower("i32[5,40]", "i32[37,40]", "i32[37,40]", target=f"pallas:{chip}")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
