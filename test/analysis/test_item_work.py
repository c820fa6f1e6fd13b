"""How much each item of a grid has to do, and why that cannot be told."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.item_numbers import ItemElement, ItemNumber
from kopt.analysis.item_work import ItemLoop, NotBalanced, item_work
from kopt.dialects.tile import GridOp
from test.named import named, only

TEXT = """
func.func @f(%a: memref<101xi32>, %b: memref<101xi32>, %c: memref<8x101xi32>, %n: index) {{
  tile.grid (%i: b0=1, %j: b1=1{more}) in (100, 100{bounds}) {order} {{
    %c1 = arith.constant 1 : index
    %at = tile.begin %i : !tile.range<b0=1>
    %to = arith.addi %at, %c1 : index
    %other = tile.begin %j : !tile.range<b1=1>
    %u = tile.load %a[%at] : memref<101xi32> -> !tile.tile<i32>
    %v = tile.load %a[%to] : memref<101xi32> -> !tile.tile<i32>
    %w = tile.load %b[%other] : memref<101xi32> -> !tile.tile<i32>
    %q = tile.load %c[0, %at] : memref<8x101xi32> -> !tile.tile<i32>
    %first = tile.extract %u : !tile.tile<i32> to index
    %last = tile.extract %v : !tile.tile<i32> to index
    %far = tile.extract %w : !tile.tile<i32> to index
    %deep = tile.extract %q : !tile.tile<i32> to index
    {body}
  }}
  func.return
}}
"""
LENGTH = ItemNumber(0, ((ItemElement(0, "a", 0), -1), (ItemElement(0, "a", 1), 1)))
OWN = ItemLoop(LENGTH, 16)


def loop(bounds: str, body: str = "", size: int = 16, tag: str = "b5", name: str = "k") -> str:
    return f"tile.for %{name}: {tag}={size} in ({bounds}) {{\n{body}\n}}"


OWN_LOOP = loop("%first, %last")


def work(body: str, order: str = "", more: str = "", bounds: str = ""):
    module = parse(TEXT.format(body=body, order=order, more=more, bounds=bounds))
    return item_work(only(module, GridOp)), named(module)


def test_a_loop_between_an_items_numbers() -> None:
    found, values = work(OWN_LOOP)
    assert found.items is values["i"] and found.nests == ((OWN,),)


def test_loops_one_after_another_each_count() -> None:
    found, _ = work(f"{OWN_LOOP}\n{loop('0, %first', size=8, tag='b6', name='h')}")
    assert found.nests == ((OWN,), (ItemLoop(ItemNumber(0, ((ItemElement(0, "a", 0), 1),)), 8),))


def test_an_inner_loop_counts_for_each_visit_of_the_outer_one() -> None:
    inner = loop("%first, %last", size=8, tag="b6", name="h")
    found, _ = work(loop("%first, %last", inner))
    assert found.nests == ((OWN,), (ItemLoop(LENGTH, 8), OWN))


@pytest.mark.parametrize("bounds", ["0, 64", "0, %n", "%n, %n", "0, %deep"])
def test_a_loop_that_is_the_same_for_all_items_or_not_known_counts_as_one_visit(bounds: str) -> None:
    inner = loop("%first, %last")
    found, _ = work(loop(bounds, inner, tag="b6", name="h"))
    assert found.nests == ((OWN,),)


def test_a_length_that_cancels_is_the_same_for_all_items() -> None:
    with pytest.raises(NotBalanced, match="^no loop goes to bounds that are known"):
        work(loop("%first, %first"))


def test_a_jagged_loop_walks_its_items_lengths() -> None:
    text = """
func.func @f(%a: memref<100xi32>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %a[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=4 in %n {
    }
  }
  func.return
}"""
    module = parse(text)
    found = item_work(only(module, GridOp))
    assert found.items is named(module)["i"]
    assert found.nests == ((ItemLoop(ItemNumber(0, ((ItemElement(0, "a", 0), 1),)), 4),),)


@pytest.mark.parametrize(
    ("body", "order", "why"),
    [
        (OWN_LOOP, "ordered [0]", "its cells run in order"),
        (OWN_LOOP, "reduce [1]", "its cells run in order"),
        ("", "", "no loop goes to bounds that are known for each item before the launch"),
        (loop("0, %n"), "", "no loop goes to bounds that are known for each item before the launch"),
        (loop("0, %deep"), "", "no loop goes to bounds that are known for each item before the launch"),
        (
            f"{OWN_LOOP}\n{loop('0, %far', tag='b6', name='h')}",
            "",
            "its loops go over more than one dimension of items",
        ),
        (loop("%first, %far"), "", "its loops go over more than one dimension of items"),
        (f"%id = tile.id %i : !tile.range<b0=1>\n{OWN_LOOP}", "", "'tile.id' asks for numbers of blocks"),
        (f"%id = tile.count %i : !tile.range<b0=1>\n{OWN_LOOP}", "", "'tile.count' asks for numbers of blocks"),
        (
            f"%s = tile.shift %i by %c1 : !tile.range<b0=1>\n%id = tile.id %s : !tile.range<b0=1>\n{OWN_LOOP}",
            "",
            "'tile.id' asks for numbers of blocks",
        ),
    ],
)
def test_why_items_are_not_balanced(body: str, order: str, why: str) -> None:
    with pytest.raises(NotBalanced, match=f"^{why}$"):
        work(body, order)


def test_numbers_of_other_dimensions_blocks_may_be_asked_for() -> None:
    found, values = work(f"%id = tile.id %j : !tile.range<b1=1>\n{OWN_LOOP}")
    assert found.items is values["i"]
