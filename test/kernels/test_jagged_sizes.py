"""Every jagged kernel at sizes like real ones, 10,003 rows or 120 items, with the blocks that kopt chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
from kopt.runtime.pallas_strict import RACE_CELLS
from kopt.runtime.tolerance import mismatch
from test.kernels import jagged_kernels as kernels
from test.kernels import test_packed
from test.kernels.test_jagged import CASES, COLUMNS, SPECS, attention, averaged, padded_add, random

#: The rows before the first item, and the items' lengths.
SIZES: dict[str, tuple[int, list[int]]] = {
    "rows": (1, [0, 700, 3, *[500] * 18, 1, 299]),
    "items": (5, [n * 5 % 7 for n in range(120)]),
}
Family = tuple[Callable[..., Any], Callable[..., torch.Tensor], Callable[..., tuple[Any, ...]]]


def rows_and(more: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    return lambda offsets, rows, dtype: (random(rows, COLUMNS, dtype=dtype), offsets, *more(len(offsets) - 1, dtype))


def widths(count: int, dtype: torch.dtype) -> tuple[torch.Tensor]:
    return (torch.arange(count, dtype=torch.int32) * 7 % (COLUMNS + 1),)


#: A kernel, the same in torch, and the arguments for offsets, a number of rows and a dtype.
FAMILIES: dict[str, Family] = {
    **{
        case[0].__name__: (case[0], case[1], rows_and(case[3]))
        for case in CASES
        if case[0] is not kernels.jagged_mean and not case[0].__name__.startswith("jagged_sum_")
    },
    "jagged_mean": (kernels.jagged_mean, averaged, rows_and(widths)),
    "jagged_dense_add": (
        kernels.jagged_dense_add,
        padded_add,
        lambda offsets, rows, dtype: (random(rows, dtype=dtype), offsets, random(len(offsets) - 1, 700, dtype=dtype)),
    ),
    "hstu_attention": (
        kernels.hstu_attention,
        attention,
        lambda offsets, rows, dtype: (*random(3, rows, 2, 16, dtype=dtype), offsets),
    ),
    **{
        name: case[:3] for name, case in test_packed.CASES.items() if name in ("jagged_jagged_bmm", "causal", "grouped")
    },
}
#: One long item or another on a TPU, many short ones on a GPU, where interpreters take long for what is long.
TARGETS = {"rows": "pallas:interpret", "items": "triton:interpret"}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "target"), TARGETS.items(), ids=TARGETS)
@pytest.mark.parametrize("name", FAMILIES)
def test_as_torch(name, size, target) -> None:
    kernel, expected, make = FAMILIES[name]
    first, lengths = SIZES[size]
    offsets = (torch.tensor([0, *lengths]).cumsum(0) + first).to(torch.int32)
    arguments = make(offsets, int(offsets[-1]) + 2, torch.float32)
    found, wanted = kopt.kernel(kernel, target=target)(*arguments), expected(*arguments)
    assert found.dtype == wanted.dtype
    assert mismatch(found, wanted, SPECS[wanted.dtype], 700) is None


#: Far more items than a block has, and one item that has nearly all rows.
MANY, HUGE = [n * 5 % 7 for n in range(1500)], [1, 0, 2, 6000, 1, 0, 7]


def check(name: str, lengths: list[int], target: str, **config) -> None:
    kernel, expected, make = FAMILIES[name]
    offsets = (torch.tensor([0, *lengths]).cumsum(0) + 2).to(torch.int32)
    arguments = make(offsets, int(offsets[-1]) + 1, torch.float32)
    found, wanted = kopt.kernel(kernel, target=target, config=config)(*arguments), expected(*arguments)
    assert mismatch(found, wanted, SPECS[wanted.dtype], max(lengths)) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jagged_sum", "jagged_softmax"])
def test_many_items(name) -> None:
    check(name, MANY, "pallas:interpret")


@pytest.mark.slow
def test_many_items_in_blocks() -> None:
    """On a GPU by 128, for the interpreter takes its time for a program."""
    check("jagged_sum", MANY, "triton:interpret", block_sizes=[128, 32, 16])


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("name", ["jagged_sum", "jagged_softmax"])
def test_one_huge_item(name, target) -> None:
    check(name, HUGE, target)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["jagged_sum", "jagged_softmax"])
def test_hundreds_of_items_strictly(name) -> None:
    """As many as races are looked for among."""
    check(name, [n * 3 % 5 for n in range(RACE_CELLS)], "pallas:strict")
