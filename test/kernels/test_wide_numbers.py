"""Whole numbers beyond 32 bits in a kernel's text: Python's numbers are 64-bit ones, as in torch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from test.special_values.kernels import compiled

TARGETS = ["reference", "triton:interpret", "pallas:interpret"]
_TEXT = """
import torch

import kopt.language as hl


def kernel(a):
    out = torch.zeros([8], dtype=torch.int64)
    for t in hl.tile(a.size(0), block_size=4):
        x = a[t]
        out[t] = {}
    return out
"""
VALUES = [
    "torch.where(x > 3, 2**40, -2**40)",
    "torch.where(x > 3, 2**31, 0) > 2**31 - 1",
    "torch.where(x > 3, 1, 2**63 - 1)",
    "torch.where(x > 3, 1 << 20, 1) * 2**20",
    "torch.where(x > 3, True, 2**33)",
    "torch.where(x < 9, t.begin, 0) * 2**33",
    "torch.full([], t.begin, dtype=torch.int64) * 2**33",
    "torch.where(x > 3, 5, 7)",
]
#: Numbers of loops, which chips compute in 32 bits.
LOOPS = [
    "t.begin * 2**30 * 4", "t.id * 2**35", "max(t.begin, 2**33)", "t.begin + 2**33", "t.begin - 2**31 - 1",
    "(t.begin * 2**40) // 2**39", "t.end * t.end * 2**30",
]  # fmt: skip
X = torch.arange(8)


def kernel(text: str, folder: Path) -> Callable[..., Any]:
    return compiled(_TEXT.format(text), folder)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", VALUES)
def test_numbers_have_64_bits(text: str, target: str, tmp_path) -> None:
    """As the kernel's own Python computes them; a TPU may refuse what it has no integers for."""
    wanted = kopt.kernel(kernel(text, tmp_path)).on("eager")(X)
    try:
        got = kopt.kernel(kernel(text, tmp_path)).on(target)(X)
    except kopt.LoweringError as error:
        assert target.startswith("pallas") and "a TPU has no 64-bit integers" in str(error)
        return
    assert torch.equal(got, wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("text", LOOPS)
def test_numbers_of_loops_that_leave_32_bits_are_refused(text: str, target: str, tmp_path) -> None:
    with pytest.raises(kopt.LoweringError, match="a loop's number is computed in 32 bits, and this one goes") as error:
        kopt.kernel(kernel(text, tmp_path)).on(target)(X)
    assert error.value.location is not None and error.value.location.line == 11


def beside_ends(x):
    """Comparisons of what fits 32 bits with what does not."""
    out = torch.zeros(x.size(), dtype=torch.int32)
    for i in hl.tile(x.size(0)):
        below, above = (x[i] < 5000000000).to(torch.int32), (x[i] > -5000000000).to(torch.int32)
        out[i] = below + 2 * above + 4 * (x[i] == 5000000000).to(torch.int32)
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_beside_the_ends_are_no_numbers_beyond_them(target: str) -> None:
    x = torch.tensor([2**31 - 1, 2**31 - 2, -(2**31) + 1, 5])
    assert kopt.kernel(beside_ends).on(target)(x).tolist() == [3, 3, 3, 3]


def positions(x):
    """The place of the largest element of each row, and how many are positive: torch's int64, carried by a loop."""
    rows, columns = x.size()
    place, count = torch.empty(rows, dtype=torch.int64), torch.empty(rows, dtype=torch.int64)
    for i in hl.tile(rows):
        best, at = hl.full([i], -float("inf")), hl.zeros([i], dtype=torch.int64)
        positive = hl.zeros([i], dtype=torch.int64)
        for j in hl.tile(columns):
            value, lane = torch.max(x[i, j], 1)
            at, best = torch.where(value > best, lane + j.begin, at), torch.maximum(best, value)
            positive += (x[i, j] > 0).sum(1)
        place[i], count[i] = at, positive
    return place, count


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [1, 37, 300])
@pytest.mark.parametrize("sizes", [[4, 16], [8, 128]])
def test_positions_and_counts_that_a_loop_carries(target: str, columns: int, sizes: list[int]) -> None:
    x = torch.randn(11, columns)
    place, count = kopt.kernel(positions, config={"block_sizes": sizes}).on(target)(x)
    assert torch.equal(place, x.argmax(1)) and torch.equal(count, (x > 0).sum(1))


def weights(x, most: int):
    """Sums of narrow integers that are computed in the kernel: 64 bits, compared and carried."""
    rows, columns = x.size()
    heavy, total = torch.empty(rows, dtype=torch.bool), torch.empty(rows, dtype=torch.int64)
    for i in hl.tile(rows):
        carried = hl.zeros([i], dtype=torch.int64)
        for j in hl.tile(columns):
            carried = carried + ((x[i, j] > 0).to(torch.int32) * 3 - 1).sum(1)
        heavy[i] = carried >= most
        total[i] = torch.where(carried < 0, -carried, carried)
    return heavy, total


@pytest.mark.parametrize("target", TARGETS)
def test_sums_of_what_is_computed_in_32_bits(target: str) -> None:
    x = torch.randn(11, 37)
    heavy, total = kopt.kernel(weights, config={"block_sizes": [4, 16]}).on(target)(x, 20)
    wanted = ((x > 0).to(torch.int32) * 3 - 1).sum(1)
    assert torch.equal(heavy, wanted >= 20) and torch.equal(total, wanted.abs())


@pytest.mark.parametrize("loop_type", ["grid", "fori", "pipeline"])
def test_positions_and_counts_by_every_schedule(loop_type: str) -> None:
    """Cells of a grid carry them in buffers on the chip."""
    x = torch.randn(11, 300)
    kernel = kopt.kernel(positions, config={"block_sizes": [8, 128], "loop_type": loop_type})
    place, count = kernel.on("pallas:strict")(x)
    assert torch.equal(place, x.argmax(1)) and torch.equal(count, (x > 0).sum(1))


def branches(n, x):
    """Numbers of an argument, changed on the way that a condition takes."""
    out = torch.empty_like(n)
    for i in hl.grid(n.size(0)):
        k = n[i]
        if x[i] > 0:
            k = k * 2
        else:
            k = k + 1
        out[i] = k
    return out


@pytest.mark.parametrize("target", TARGETS)
def test_numbers_that_branches_give(target: str) -> None:
    n, x = torch.arange(-9, 9), torch.randn(18)
    assert torch.equal(kopt.kernel(branches).on(target)(n, x), torch.where(x > 0, n * 2, n + 1))
