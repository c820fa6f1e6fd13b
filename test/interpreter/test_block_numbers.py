"""Which cell each program computes: all of them once, and groups of rows of blocks of a product one after another."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, SSAValue

import kopt
from kopt.analysis.executions.numbers import computed, constant
from kopt.dialects.tile import GridOp
from kopt.dialects.triton import NAMED, ProgramIdOp
from kopt.passes.gpu.block_numbers import GROUP, block_numbers
from test.named import only

DOT = """%v = tile.load %x[%a{0}, :] : memref<1024x64xf32> -> !tile.tile<b{0}=8 x 64 x f32>
    %w = tile.load %y[:, %a{1}] : memref<64x1024xf32> -> !tile.tile<64 x b{1}=8 x f32>
    %d = tile.dot %v, %w : !tile.tile<b{0}=8 x 64 x f32>, !tile.tile<64 x b{1}=8 x f32> -> !tile.tile<b{0}=8 x b{1}=8 x f32>"""  # noqa: E501


def grid_of(rank: int, body: str = "") -> GridOp:
    names = ", ".join(f"%a{n}: b{n}=8" for n in range(rank))
    return only(
        kopt.parse(f"""
func.func @f(%x: memref<1024x64xf32>, %y: memref<64x1024xf32>) {{
  tile.grid ({names}) in ({", ".join(["1024"] * rank)}) {{
    {body}
  }}
  func.return
}}"""),
        GridOp,
    )


def cells(grid: GridOp, counts: list[int], is_open: bool = False, group: int | None = None) -> list[tuple[int, ...]]:
    """The cell of each program, in order. Where counts are ``open`` they are values, of extents."""
    body = Block(arg_types=[IndexType()] * len(counts))
    found = block_numbers(body, grid, [*body.args] if is_open else counts, group)
    extents = [8 * count - 3 for count in counts]
    values: dict[SSAValue, np.ndarray] = {arg: np.array([n]) for arg, n in zip(body.args, extents, strict=True)}
    for op in body.ops:
        if isinstance(op, ProgramIdOp):
            values[op.results[0]] = np.arange(prod(counts))
        else:
            number = constant(op)
            values[op.results[0]] = computed(op, values.__getitem__) if number is None else number
    columns = [np.broadcast_to(values[value], prod(counts)) for value in found]
    return [*zip(*(column.tolist() for column in columns), strict=True)]


def grouped(rows: int, columns: int, group: int) -> list[tuple[int, int]]:
    """Some rows of blocks side by side, column after column; the last of fewer rows."""
    return [
        (row, column)
        for first in range(0, rows, group)
        for column in range(columns)
        for row in range(first, min(first + group, rows))
    ]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("counts", [[1], [7], [3, 5], [1, 5], [5, 1], [2, 3, 4], [2, 1, 4], [1, 1, 1], [20, 3]])
def test_the_last_dimension_comes_first(counts: list[int], is_open: bool) -> None:
    assert cells(grid_of(len(counts)), counts, is_open) == [*product(*map(range, counts))]


@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(16, 3), (17, 3), (9, 4), (8, 4), (7, 4), (24, 1), (1, 9), (30, 5)])
def test_rows_of_a_product_come_in_groups(rows: int, columns: int, is_open: bool) -> None:
    found = cells(grid_of(2, DOT.format(0, 1)), [rows, columns], is_open)
    few = rows <= GROUP and not is_open or not is_open and columns == 1
    assert found == ([*product(range(rows), range(columns))] if few else grouped(rows, columns, GROUP))


@pytest.mark.parametrize("is_open", [False, True])
def test_outer_dimensions_of_a_product_come_last(is_open: bool) -> None:
    for outer in ([3], [2, 2], [1, 3]):
        found = cells(grid_of(len(outer) + 2, DOT.format(len(outer), len(outer) + 1)), [*outer, 11, 3], is_open)
        assert found == [(*one, *two) for one in product(*map(range, outer)) for two in grouped(11, 3, GROUP)]


def test_dimensions_that_are_no_rows_and_columns_are_not_grouped() -> None:
    for body in ("", DOT.format(1, 0)):
        assert cells(grid_of(2, body), [20, 3]) == [*product(range(20), range(3))]
    assert cells(grid_of(3, DOT.format(0, 1)), [20, 3, 2]) == [*product(range(20), range(3), range(2))]


@pytest.mark.parametrize("group", [1, 2, 4, 5])
@pytest.mark.parametrize("body", ["", DOT.format(0, 1)])
def test_groups_that_are_asked_for(group: int, body: str) -> None:
    found = cells(grid_of(2, body), [10, 3], group=group)
    assert found == ([*product(range(10), range(3))] if group == 1 else grouped(10, 3, group))


def test_nothing_is_divided_by_what_the_program_computes_where_rows_divide() -> None:
    """A group is as high as all others then."""
    for rows, numbers in ((16, True), (17, False)):
        body = Block()
        block_numbers(body, grid_of(2, DOT.format(0, 1)), [rows, 3])
        divisors = [op.operands[1].owner for op in body.ops if op.name in ("arith.divsi", "arith.remsi")]
        assert all(map(is_number, divisors)) == numbers


def is_number(op: Operation | Block) -> bool:
    """Whether an op is a constant, or a product of these."""
    assert isinstance(op, Operation)
    is_product = op.name == "arith.muli" and all(is_number(value.owner) for value in op.operands)
    return is_product or constant(op) is not None


def test_numbers_of_blocks_have_names() -> None:
    """Each once, also where dimensions have one name; the emitted text has them."""
    body, grid = Block(), grid_of(4, DOT.format(2, 3))
    for range in grid.ranges:
        range.name_hint = "i"
    block_numbers(body, grid, [2, 5, 16, 3])
    found = [(op.results[0].name_hint, constant(op)) for op in body.ops if NAMED in op.attributes]
    assert found == [("i_blocks", 16), ("i_blocks", 3), ("i_blocks", 5), ("GROUP_M", GROUP)]
