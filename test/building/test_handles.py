"""Handles of `kopt.build`: what each of their methods writes, what they are called, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import MemRefType, f32

import kopt
from kopt import build
from kopt.dialects.tile import SliceAttr, TileType
from kopt.errors import VerifyError


def lines(write: Callable[[build.OpBuilder, build.Array, build.Range], object]) -> list[str]:
    """The lines that ``write`` adds to a loop over the rows of an array."""
    b = build.OpBuilder()
    with b.function("f", {"x": "f32[37,50]"}) as (x,):
        with b.grid((0, 37), sizes=[16]) as (rows,):
            write(b, x, rows)
        b.return_()
    text = str(b.module).splitlines()
    start = next(n for n, line in enumerate(text) if "tile.grid" in line)
    return [line.strip() for line in text[start + 1 :] if line.startswith("      ")]


ROWS, NUMBER = "!tile.range<b0=16>", "arith.constant"
WRITTEN = {
    "index": (lambda b, x, rows: rows.index, f"%1 = tile.index %0 : {ROWS}"),
    "begin": (lambda b, x, rows: rows.begin, f"%1 = tile.begin %0 : {ROWS}"),
    "end": (lambda b, x, rows: rows.end, f"%1 = tile.end %0 : {ROWS}"),
    "id": (lambda b, x, rows: rows.id, f"%1 = tile.id %0 : {ROWS}"),
    "count": (lambda b, x, rows: rows.count, f"%1 = tile.count %0 : {ROWS}"),
    "sum": (
        lambda b, x, rows: rows.end + 5,
        f"%1 = tile.end %0 : {ROWS}; %2 = {NUMBER} 5 : index; %3 = arith.addi %1, %2 : index",
    ),
    "sum the other way": (
        lambda b, x, rows: 5 + rows.end,
        f"%1 = tile.end %0 : {ROWS}; %2 = {NUMBER} 5 : index; %3 = arith.addi %1, %2 : index",
    ),
    "difference": (
        lambda b, x, rows: rows.end - rows.begin,
        f"%1 = tile.end %0 : {ROWS}; %2 = tile.begin %0 : {ROWS}; %3 = arith.subi %1, %2 : index",
    ),
    "product": (
        lambda b, x, rows: 3 * rows.id,
        f"%1 = tile.id %0 : {ROWS}; %2 = {NUMBER} 3 : index; %3 = arith.muli %1, %2 : index",
    ),
    "moved": (lambda b, x, rows: rows + 7, f"%1 = {NUMBER} 7 : index; %2 = tile.shift %0 by %1 : {ROWS}"),
    "transposed": (
        lambda b, x, rows: x[rows, :].transpose(1, 0),
        "%1 = tile.load %x[%0, :] : memref<37x50xf32> -> !tile.tile<b0=16 x 50 x f32>; "
        "%2 = tile.transpose %1 [1, 0] : !tile.tile<b0=16 x 50 x f32>",
    ),
    "numbers": (lambda b, x, rows: b.arange(4, 3, 2), "%1 = tile.arange 3, 2 : !tile.tile<4 x i32>"),
    "one number": (lambda b, x, rows: b.fill(2, "i8", rows, 5), "%1 = tile.full 2 : !tile.tile<b0=16 x 5 x i8>"),
}


@pytest.mark.parametrize(("write", "wanted"), WRITTEN.values(), ids=WRITTEN)
def test_what_handles_write(write, wanted: str) -> None:
    assert "; ".join(lines(write)) == wanted


def test_handles_are_shown_by_their_types() -> None:
    b = build.OpBuilder()
    with b.function("f", {"x": MemRefType(f32, [37, 50])}) as (x,):
        with b.grid(37, sizes=[16]) as (rows,):
            shown = [repr(each) for each in (x, rows, rows.begin, x[rows, 3])]
        b.return_()
    assert shown == [
        "Array(memref<37x50xf32>)", "Range(!tile.range<b0=16>)", "IndexValue(index)", "Value(!tile.tile<b0=16 x f32>)",
    ]  # fmt: skip


def value(b: build.OpBuilder) -> build.Value:
    return b.fill(1.0, "f32", 4)


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda b: value(b).reshape(5), "tile.reshape keeps the number of lanes"),
        (lambda b: b.make_attribute(SliceAttr, 3, 1), "slice"),
        (lambda b: b.alloc("f32[8,8]")[b.arange(4), b.arange(5)], "gathering indices need the same dimensions"),
        (lambda b: b.alloc("f32[8]")[0, 0], "an array of 1 dimensions has as many indices, found 2"),
    ],
)
def test_what_operations_refuse(write, message: str) -> None:
    b = build.OpBuilder()
    with pytest.raises(VerifyError, match=message):
        with b.function("f", {}):
            write(b)


def test_a_module_has_one_function_of_a_name() -> None:
    b = build.OpBuilder()
    with b.function("f", {}):
        b.return_()
    with pytest.raises(VerifyError, match="the module has a function 'f' already"):
        with b.function("f", {}):
            pass
    with b.function("g", {}):
        b.return_()


@pytest.mark.parametrize("sizes", [[], [8], [8, 8, 8]])
def test_each_range_of_a_loop_has_a_size(sizes: list[int]) -> None:
    b = build.OpBuilder()
    with pytest.raises(VerifyError, match=f"the loop has 2 ranges, found {len(sizes)} sizes"):
        with b.function("f", {}), b.grid(37, 50, sizes=sizes):
            pass


def test_methods_are_those_of_the_elementwise_table() -> None:
    b = build.OpBuilder()
    with b.function("f", {}):
        assert value(b).exp().type == TileType([4], f32)
        with pytest.raises(AttributeError, match="Value has no 'expp', and the elementwise table has none"):
            value(b).expp  # noqa: B018
        b.return_()


def open_blocks(write: Callable[[build.OpBuilder, build.Array, build.Range], object]) -> dict[str, tuple[bool, bool]]:
    """Of a loop without sizes whether its block is observed and sized."""
    b = build.OpBuilder()
    with b.function("f", {"x": "f32[37,50]"}) as (x,):
        with b.grid(37) as (rows,):
            write(b, x, rows)
        b.return_()
    (func,) = b.module.ops
    return {one.tags[0]: (one.observed, one.sized) for one in kopt.dialects.tile.open_blocks(func)}


@pytest.mark.parametrize(
    ("write", "observed", "sized"),
    [
        (lambda b, x, rows: x[rows, :], False, False),
        (lambda b, x, rows: rows.id, True, False),
        (lambda b, x, rows: rows.count, True, True),
        (lambda b, x, rows: rows.begin, False, False),
        (lambda b, x, rows: x[rows, :].reduce("add", 0), False, False),
        (lambda b, x, rows: x[rows, :].reduce("add", 1), False, False),
        (lambda b, x, rows: x[rows, :].exp(), False, False),
    ],
)
def test_what_depends_on_open_sizes(write, observed: bool, sized: bool) -> None:
    assert open_blocks(write) == {"b0": (observed, sized)}
