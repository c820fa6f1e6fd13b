"""Gathers by numbers that are loaded once for groups of lanes: what each group has comes once, of any type."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import cycle
from math import prod

import pytest
import torch
from xdsl.ir import Operation

import kopt
import kopt.language as hl
from kopt.dialects.pallas import DmaStartOp
from kopt.dialects.tile import ForOp, GridOp
from kopt.passes.pipelines import pipeline
from kopt.walk import walk
from test.rotating import rotating


def runs(out, numbers, x):
    """Lanes of flat storage from a number on, the same for 4 rows."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        first = hl.load(numbers, [i.index // 4]) * 100
        out[i, j] = hl.load(x, [first[:, None] + j.index[None, :]])


def rows(out, numbers, x):
    """Rows of a matrix."""
    for i in hl.tile(40, block_size=16):
        out[i, :] = hl.load(x, [hl.load(numbers, [i.index // 4]), slice(None)])


def few_lanes(out, numbers, x):
    """Lanes of rows of a matrix, picked by number."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        row = hl.load(numbers, [i.index // 2])
        out[i, j] = hl.load(x, [row[:, None], j.index[None, :] * 2 % 100])


def columns(out, numbers, x):
    """Elements of rows that differ along lanes alone, in groups of 32."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        first = hl.load(numbers, [j.index // 32]) * 200
        out[i, j] = hl.load(x, [first[None, :] + i.index[:, None] * 300])


def elements(out, numbers, x):
    """Single elements of flat storage, the same for 8 lanes."""
    for i in hl.tile(40, block_size=32):
        out[i] = hl.load(x, [hl.load(numbers, [i.index // 8]) * 700])


def row_of_block(out, numbers, x):
    """One row for all of a block, which the block's number tells."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        row = hl.load(numbers, [i.index // 16])
        out[i, j] = hl.load(x, [row[:, None], j.index[None, :]])


def element_of_block(out, numbers, x):
    """One element for all of a block."""
    for i in hl.tile(40, block_size=8):
        out[i] = hl.load(x, [hl.load(numbers, [i.index // 8]) * 700])


def pairs_of_groups(out, numbers, x):
    """Numbers that are loaded by loaded numbers, and added to others."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        row = hl.load(numbers, [hl.load(numbers, [i.index // 4])]) * 3 + i.index // 2
        out[i, j] = hl.load(x, [row[:, None] * 128 + j.index[None, :]])


def masked(out, numbers, x):
    """Numbers that only some lanes load: the others are 0."""
    for i, j in hl.tile([40, 128], block_size=[16, 128]):
        row = hl.load(numbers, [i.index // 4], extra_mask=i.index % 3 > 0)
        out[i, j] = hl.load(x, [row[:, None] * 100 + j.index[None, :]])


@dataclass(frozen=True)
class Case:
    """A kernel, the shapes of its result and array, and how many rows of 128 lanes of f32 a block fetches."""

    kernel: Callable[..., None]
    shape: tuple[int, ...]
    array: tuple[int, ...]
    places: int


MATRIX, FLAT = (40, 128), (300_000,)
CASES = [
    Case(runs, MATRIX, FLAT, 8),
    Case(rows, (40, 256), (30_000, 256), 4),
    Case(few_lanes, MATRIX, (30_000, 128), 8),
    Case(columns, MATRIX, FLAT, 64),
    Case(elements, (40,), FLAT, 4),
    Case(row_of_block, MATRIX, (30_000, 128), 1),
    Case(element_of_block, (40,), FLAT, 1),
    Case(pairs_of_groups, MATRIX, FLAT, 8),
    Case(masked, MATRIX, FLAT, 32),
]
TYPES = [torch.float32, torch.bfloat16, torch.int8]


def named(value: object) -> str:
    return value.kernel.__name__ if isinstance(value, Case) else str(value)


def arguments(case: Case, dtype: torch.dtype) -> list[torch.Tensor]:
    numbers = torch.randint(0, 20, (40,), generator=torch.Generator().manual_seed(1), dtype=torch.int32)
    x = torch.arange(torch.Size(case.array).numel()).remainder(251 if dtype == torch.bfloat16 else 127)
    return [torch.zeros(case.shape, dtype=dtype), numbers, x.reshape(case.array).to(dtype)]


@pytest.mark.parametrize(
    ("case", "target", "dtype"),
    [
        (case, target, dtype)
        for place, case in enumerate(CASES)
        for target in ("reference", "pallas:interpret", "triton:interpret")
        for dtype in (TYPES if target == "pallas:interpret" else [TYPES[place % len(TYPES)]])
    ],
    ids=named,
)
def test_values(case: Case, target: str, dtype: torch.dtype) -> None:
    """In each type on a TPU, whose registers hold as many rows as it has bytes; elsewhere in one."""
    wanted, found = arguments(case, dtype), arguments(case, dtype)
    kopt.kernel(case.kernel).on("eager")(*wanted)
    kopt.kernel(case.kernel).on(target)(*found)
    assert wanted[0].any() and torch.equal(found[0], wanted[0])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel.__name__)
def test_what_groups_have_comes_once(case: Case) -> None:
    low = kopt.kernel(case.kernel).lower(*arguments(case, torch.float32), target="pallas:v6e")
    module = kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config))
    starts = [op for op in walk(module, DmaStartOp) if op.source.name_hint == "x"]
    # A cell's own rows; or those of the first cell, and then always of the next one.
    assert len(starts) in (1, 2)
    assert {prod(visits(start)) for start in starts} == {case.places}


def visits(op: Operation) -> Iterator[int]:
    """How often each loop around an op turns, in a cell of the grid."""
    while not isinstance(op := op.parent_op(), GridOp):  # pyright: ignore[reportAssignmentType]
        if isinstance(op, ForOp):
            lower, upper = op.bounds
            yield -(-(upper - lower) // op.range.type.size)  # pyright: ignore


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "chip", "dtype"),
    [(*pair, dtype) for pair, dtype in zip(rotating(CASES, "v6e", ("tpu7x", "v5e")), cycle(TYPES))],
    ids=named,
)
def test_compiles(case: Case, chip: str, dtype: torch.dtype) -> None:
    """Each in two types, a chip each."""
    if importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    low = kopt.kernel(case.kernel).lower(*arguments(case, dtype), target=f"pallas:{chip}")
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
