"""Numbers that each item has: sums of elements of arrays on the host, and what is no such sum."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.item_numbers import ItemElement, ItemNumber, ItemReader, Unknown, host_arrays
from test.named import named, only

A, B = ItemElement(0, "a", 0), ItemElement(1, "b", 0)


def number(const: int = 0, **terms: int) -> ItemNumber:
    """``a1=2`` is twice element ``i + 1`` of ``a``; ``a_1`` is element ``i - 1``."""
    found = {}
    for name, factor in terms.items():
        array, shift = name[0], int(name[1:].replace("_", "-") or 0)
        found[ItemElement("ab".index(array), array, shift)] = factor
    return ItemNumber(const, tuple(sorted(found.items())))


def test_sums_drop_what_cancels() -> None:
    assert number(3, a=2, b=1) + number(4, a=-2) == number(7, b=1)
    assert number(3, a=2, b=1) - number(3, a=2, b=1) == ItemNumber()
    assert number(3, a=2).times(0) == ItemNumber()
    assert number(3, a=2).times(-2) == number(-6, a=-4)
    assert number(a=1, b=1) == number(b=1) + number(a=1)


TEXT = """
func.func @f(%a: memref<101xi32>, %b: memref<100xi64>, %w: memref<100xi32>, %x: memref<1000xf32>, %n: index) {{
  %s = host.slice %a [1] [100] [1] : memref<101xi32> to memref<100xi32, strided<[1], offset: 1>>
  %ss = host.slice %s [2] [50] [1] : memref<100xi32, strided<[1], offset: 1>> to memref<50xi32, strided<[1], offset: 3>>
  %odd = host.slice %a [0] [50] [2] : memref<101xi32> to memref<50xi32, strided<[2]>>
  tile.grid (%i: b0=8, %j: b1=1) in ({bounds}) {{
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %id = tile.begin %j : !tile.range<b1=1>
    %t = tile.load %a[%i] : memref<101xi32> -> !tile.tile<b0=8 x i32>
    %mask = tile.full true : !tile.tile<b0=8 x i1>
    {body}
    tile.store %t, %w[%i] : !tile.tile<b0=8 x i32>, memref<100xi32>
  }}
  func.return
}}
"""
TILE = "!tile.tile<b0=8 x i32>"


def read(body: str, bounds: str = "100, 100"):
    module = parse(TEXT.format(body=body, bounds=bounds))
    reader = ItemReader(only(module, FuncOp))
    values = named(module)
    return reader, values


def load(at: str, array: str = "a", type: str = "memref<101xi32>", tile: str = TILE, name: str = "v") -> str:
    return f"%{name} = tile.load %{array}[{at}] : {type} -> {tile}"


SCALAR = "!tile.tile<i32>"
SHIFTED = "%r = tile.shift %i by %c1 : !tile.range<b0=8>\n"


@pytest.mark.parametrize(
    ("body", "wanted", "over"),
    [
        (load("%i"), number(a=1), "i"),
        (SHIFTED + load("%r"), number(a1=1), "i"),
        (SHIFTED + "%q = tile.shift %r by %c2 : !tile.range<b0=8>\n" + load("%q"), number(a3=1), "i"),
        (load("%id", tile=SCALAR), number(a=1), "j"),
        ("%p = arith.addi %id, %c2 : index\n" + load("%p", tile=SCALAR), number(a2=1), "j"),
        ("%p = arith.subi %id, %c1 : index\n" + load("%p", tile=SCALAR), number(a_1=1), "j"),
        (load("%i", "s", "memref<100xi32, strided<[1], offset: 1>>"), number(a1=1), "i"),
        (SHIFTED + load("%r", "ss", "memref<50xi32, strided<[1], offset: 3>>"), number(a4=1), "i"),
        (f"%v = tile.add %t, %t : {TILE}", number(a=2), "i"),
        (f"%v = tile.sub %t, %t : {TILE}", number(), ""),
        (f"%h = tile.full 3 : {TILE}\n%v = tile.mul %t, %h : {TILE}", number(a=3), "i"),
        (f"%h = tile.full -3 : {TILE}\n%v = tile.add %t, %h : {TILE}", number(-3, a=1), "i"),
        (f"%v = tile.cast %t : {TILE} to !tile.tile<b0=8 x i64>", number(a=1), "i"),
        (f"%v = tile.full 7 : {TILE}", number(7), ""),
    ],
)
def test_what_a_value_is_for_each_item(body: str, wanted: ItemNumber, over: str) -> None:
    reader, values = read(body)
    assert reader.number(values["v"]) == wanted
    assert reader.items == {values[name] for name in over}


@pytest.mark.parametrize(
    "body",
    [
        f"%v = tile.mul %t, %t : {TILE}",
        f"%v = tile.load %a[%i] mask %mask : memref<101xi32> -> {TILE}",
        # What the function writes is another number later.
        load("%i", "w", "memref<100xi32>"),
        load("%i", "odd", "memref<50xi32, strided<[2]>>"),
        load("%t"),
        load("3", tile=SCALAR),
        load("%n", tile=SCALAR),
        "%p = arith.muli %id, %c2 : index\n" + load("%p", tile=SCALAR),
        # Blocks of several items: the number of their first is no item's own.
        "%p = tile.begin %i : !tile.range<b0=8>\n" + load("%p", tile=SCALAR),
        "%p = tile.id %i : !tile.range<b0=8>\n" + load("%p", tile=SCALAR),
        # Of two loops.
        "%o = tile.begin %i : !tile.range<b0=8>\n%p = arith.addi %id, %o : index\n" + load("%p", tile=SCALAR),
        f"%p = tile.extract %u : {SCALAR} to index\n".join([load("%id", tile=SCALAR, name="u") + "\n", ""])
        + load("%p", tile=SCALAR),
        f"%h = tile.index %i : !tile.range<b0=8>\n%v = tile.add %t, %h : {TILE}",
    ],
)
def test_anything_else_is_not_known(body: str) -> None:
    reader, values = read(body)
    with pytest.raises(Unknown):
        reader.number(values["v"])


def test_items_of_a_grid_that_starts_late_are_counted_from_0() -> None:
    """The range's own numbers say which elements they are."""
    reader, values = read(load("%id", tile=SCALAR), "100, 5 to 100")
    assert reader.number(values["v"]) == number(a=1)


def test_numbers_of_the_host() -> None:
    reader, values = read("")
    assert reader.number(5) == number(5)
    with pytest.raises(Unknown):
        reader.number(values["n"])


def test_shifts_of_a_range_add_up() -> None:
    body = SHIFTED + "%at = tile.extract %u : !tile.tile<i32> to index\n%q = tile.shift %r by %at : !tile.range<b0=8>"
    reader, values = read(load("%id", tile=SCALAR, name="u") + "\n" + body)
    assert reader.shift(values["i"]) == number()
    assert reader.shift(values["r"]) == number(1)
    assert reader.shift(values["q"]) == number(1, a=1)


def test_arrays_are_arguments_then_what_host_calls_give() -> None:
    func = only(parse(TEXT.format(body="", bounds="100, 100")), FuncOp)
    assert host_arrays(func) == tuple(func.body.block.args)
