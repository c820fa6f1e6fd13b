"""What items reach: the loops and accesses that are looked at before a call, and those that are left out."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.item_numbers import ItemElement, ItemNumber
from kopt.analysis.offset_checks import ArrayDim, ItemSlice, has_bounds_of_items, item_slices
from test.named import only

TEXT = """
func.func @f(%a: memref<101xi32>, %x: memref<1000x8xf32>, %n: index) {{
  tile.grid (%i: b0=1) in ({cells}) {{
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %at = tile.begin %i : !tile.range<b0=1>
    %to = arith.addi %at, %c1 : index
    %u = tile.load %a[%at] : memref<101xi32> -> !tile.tile<i32>
    %v = tile.load %a[%to] : memref<101xi32> -> !tile.tile<i32>
    %length = tile.sub %v, %u : !tile.tile<i32>
    %zero = tile.full 0 : !tile.tile<i32>
    %first = tile.extract %u : !tile.tile<i32> to index
    %last = tile.extract %v : !tile.tile<i32> to index
    %long = tile.extract %length : !tile.tile<i32> to index
    {body}
  }}
  func.return
}}
"""
START, END = (ItemElement(0, "a", shift) for shift in (0, 1))
FIRST, LAST = ItemNumber(0, ((START, 1),)), ItemNumber(0, ((END, 1),))
LENGTH = LAST - FIRST
ROWS = ArrayDim("x", 0, 1000)
LOAD = "%w = tile.load %x[{}, :] : memref<1000x8xf32> -> !tile.tile<b1=16 x 8 x f32>"


def func(body: str, cells: str = "100") -> FuncOp:
    return only(parse(TEXT.format(body=body, cells=cells)), FuncOp)


def slices(body: str, cells: str = "100") -> tuple[ItemSlice, ...]:
    return item_slices(func(body, cells))


def loop(bounds: str, body: str) -> str:
    return f"tile.for %k: b1=16 in ({bounds}) {{\n{body}\n}}"


WALK = ItemSlice(0, 100, FIRST, LAST)


def test_a_loop_and_what_it_reads() -> None:
    found = slices(loop("%first, %last", LOAD.format("%k")))
    assert found == (WALK, ItemSlice(0, 100, FIRST, LAST, ROWS))


def test_what_is_reached_twice_is_looked_at_once() -> None:
    twice = f"{LOAD.format('%k')}\n{LOAD.format('%k').replace('%w', '%w2')}"
    assert len(slices(loop("%first, %last", twice))) == 2


def test_a_shift_moves_both_ends() -> None:
    body = f"%r = tile.shift %k by %first : !tile.range<b1=16>\n{LOAD.format('%r')}"
    whole = ItemSlice(0, 100, ItemNumber(), LENGTH)
    assert slices(loop("0, %long", body)) == (whole, ItemSlice(0, 100, FIRST, LAST, ROWS))
    body = f"%r = tile.shift %k by %c4 : !tile.range<b1=16>\n{LOAD.format('%r')}"
    assert slices(loop("%first, %last", body))[1] == ItemSlice(
        0, 100, FIRST + ItemNumber(4), LAST + ItemNumber(4), ROWS
    )


def test_a_grid_may_have_some_of_the_items() -> None:
    assert slices(loop("%first, %last", ""), "5 to 9") == (ItemSlice(5, 9, FIRST, LAST),)


@pytest.mark.parametrize("bounds", ["0, 64", "0, %n", "%n, %last"])
def test_bounds_that_are_no_items_numbers_are_left_out(bounds: str) -> None:
    assert slices(loop(bounds, LOAD.format("%k"))) == ()


def test_bounds_of_items_are_told_from_numbers() -> None:
    assert not has_bounds_of_items(func(loop("0, 64", "")))
    assert has_bounds_of_items(func(loop("0, %n", "")))


MASKED = LOAD.replace(" : memref", " mask %m : memref")


def test_accesses_under_a_mask_may_be_out_of_range() -> None:
    body = f"%m = tile.full true : !tile.tile<b1=16 x 8 x i1>\n{MASKED.format('%k')}"
    assert slices(loop("%first, %last", body)) == (WALK,)


def under(condition: str, inner: str, other: str = "") -> str:
    test = f"%q = {condition}\n%go = tile.extract %q : !tile.tile<i1> to i1"
    return f"{test}\nscf.if %go {{\n{inner}\n}} else {{\n{other}\n}}"


REACHED = (WALK, ItemSlice(0, 100, FIRST, LAST, ROWS))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("tile.gt %v, %u : !tile.tile<i32>", REACHED),
        ("tile.lt %u, %v : !tile.tile<i32>", REACHED),
        ("tile.gt %length, %zero : !tile.tile<i32>", REACHED),
        ("tile.gt %u, %v : !tile.tile<i32>", (WALK,)),
        ("tile.ge %v, %u : !tile.tile<i32>", (WALK,)),
        ("tile.gt %v, %zero : !tile.tile<i32>", (WALK,)),
    ],
)
def test_only_the_condition_that_an_item_is_not_empty_leaves_accesses_in(
    condition: str, wanted: tuple[ItemSlice, ...]
) -> None:
    assert slices(under(condition, loop("%first, %last", LOAD.format("%k")))) == wanted


def test_the_other_branch_is_of_empty_items() -> None:
    body = under("tile.gt %v, %u : !tile.tile<i32>", "", loop("%first, %last", LOAD.format("%k")))
    assert slices(body) == (WALK,)


def test_rows_of_items_are_reached_by_their_starts() -> None:
    text = """
func.func @f(%s: memref<100xi32>, %n: memref<100xi32>, %x: memref<1000x8xf32>) {
  tile.grid (%i: b0=8) in (100) {
    %starts = tile.load %s[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %lengths = tile.load %n[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %lengths {
      %rows = jagged.rows %k from %starts : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %w = tile.load %x[%rows, :] : memref<1000x8xf32> -> !tile.tile<b0=8 x b1=16 x 8 x f32>
    }
  }
  func.return
}"""
    start, length = (ItemNumber(0, ((ItemElement(array, name, 0), 1),)) for array, name in ((0, "s"), (1, "n")))
    assert item_slices(only(parse(text), FuncOp)) == (
        ItemSlice(0, 100, ItemNumber(), length),
        ItemSlice(0, 100, start, start + length, ROWS),
    )
