"""What is known of jagged loops: the items' lanes, which conditions say so, what the other lanes hold."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import f32

from kopt import parse
from kopt.analysis.jagged import ItemPadding, Items, loops_around
from kopt.dialects.jagged import ForOp
from kopt.dialects.tile import DimAttr, StoreOp, TileType
from kopt.ir.sums import SumAnalysis
from test.named import named, only

TEXT = """
func.func @f(%x: memref<1000xf32>, %starts: memref<100xi32>, %lens: memref<100xi32>, %out: memref<100xf32>) {{
  tile.grid (%i: b0=8) in (100) {{
    %lengths = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %others = tile.load %starts[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %lengths {{
      %has = jagged.valid %k of %lengths : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %hasnt = jagged.valid %k of %others : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %rows = jagged.rows %k from %others : !tile.range<b1=16>, !tile.tile<b0=8 x i32>
      %l = tile.index %k : !tile.range<b1=16>
      %lanes = tile.broadcast %l dims [1] : !tile.tile<b1=16 x i32> to !tile.tile<b0=8 x b1=16 x i32>
      %ends = tile.broadcast %lengths dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=16 x i32>
      %begins = tile.broadcast %others dims [0] : !tile.tile<b0=8 x i32> to !tile.tile<b0=8 x b1=16 x i32>
      {body}
    }}
  }}
  func.return
}}
"""
BLOCK, MASK, INTS = "!tile.tile<b0=8 x b1=16 x f32>", "!tile.tile<b0=8 x b1=16 x i1>", "!tile.tile<b0=8 x b1=16 x i32>"
MASKED = f"%v = tile.load %x[%rows] mask %m other 7.0 : memref<1000xf32> -> {BLOCK}"
LOAD = f"%v = tile.load %x[%rows] : memref<1000xf32> -> {BLOCK}"


def parts(body: str = ""):
    module = parse(TEXT.format(body=body))
    loop = only(module, ForOp)
    return module, named(module), Items(loop.range, loop.lengths)


def test_items_have_their_own_dimensions_and_the_ranges() -> None:
    _, values, items = parts()
    assert items == Items(values["k"], values["lengths"]) and items.tags == ("b0", "b1")


@pytest.mark.parametrize(
    ("dims", "wanted"),
    [
        ([("b0", 8), ("b1", 16)], (0, 1)),
        ([("b1", 16), ("", 4), ("b0", 8)], (2, 0)),
        ([("b0", 8)], None),
        ([("b1", 16)], None),
        ([], None),
    ],
)
def test_where_a_type_has_them(dims: list[tuple[str, int]], wanted: tuple[int, ...] | None) -> None:
    _, _, items = parts()
    assert items.dims_of(TileType([DimAttr(size, tag) for tag, size in dims], f32)) == wanted


CONDITIONS = {
    "has": ("", True),
    "hasnt": ("", False),  # other lengths
    "lt": (f"%lt = tile.lt %lanes, %ends : {INTS}", True),
    "gt": (f"%gt = tile.gt %ends, %lanes : {INTS}", True),
    "le": (f"%le = tile.le %lanes, %ends : {INTS}", False),
    "wrong way round": (f"%c = tile.gt %lanes, %ends : {INTS}", False),
    "other ends": (f"%c = tile.lt %lanes, %begins : {INTS}", False),
    "one lane more": (
        f"%one = tile.full 1 : {INTS}\n %a = tile.add %lanes, %one : {INTS}\n %c = tile.lt %a, %ends : {INTS}",
        False,
    ),
}


@pytest.mark.parametrize("name", [name for name, (_, wanted) in CONDITIONS.items()])
def test_conditions_that_lanes_are_the_items(name: str) -> None:
    body, wanted = CONDITIONS[name]
    _, values, items = parts(body)
    assert items.imply(values.get(name) or values["c"], SumAnalysis()) is wanted


def test_conditions_over_fewer_dimensions_are_no_items() -> None:
    _, values, items = parts("%c = tile.lt %lengths, %others : !tile.tile<b0=8 x i32>")
    assert not items.imply(values["c"], SumAnalysis())


def test_loops_around_innermost_first() -> None:
    module = parse("""
func.func @f(%lens: memref<100xi32>, %out: memref<i32>) {
  tile.grid (%i: b0=8) in (100) {
    %a = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    jagged.for %k: b1=16 in %a {
      tile.for %m: b2=4 in (0, 8) {
        jagged.for %l: b3=16 in %a {
          %z = tile.full 0 : !tile.tile<i32>
          tile.store %z, %out[] : !tile.tile<i32>, memref<i32>
        }
      }
    }
  }
  func.return
}
""")
    outer, inner = [op for op in module.walk() if isinstance(op, ForOp)]
    wanted = {Items(inner.range, inner.lengths): inner, Items(outer.range, outer.lengths): outer}
    assert list(loops_around(only(module, StoreOp)).items()) == list(wanted.items())
    assert list(loops_around(inner).values()) == [outer] and loops_around(outer) == {}


PADDING = {
    # name of the value: ops, what is in the other lanes where loads are masked, and where they are not
    "load": (LOAD, 0, None),
    "other value": (f"%v = tile.load %x[%rows] mask %has other 7.0 : memref<1000xf32> -> {BLOCK}", 7.0, 7.0),
    "other mask": (f"%v = tile.load %x[%rows] mask %hasnt other 7.0 : memref<1000xf32> -> {BLOCK}", 7.0, None),
    "both masks": (
        f"%m = tile.and %hasnt, %has : {MASK}\n {MASKED}",
        7.0,
        7.0,
    ),
    "one mask or another": (
        f"%m = tile.or %hasnt, %has : {MASK}\n {MASKED}",
        7.0,
        None,
    ),
    "negated": (f"{LOAD}\n %w = tile.neg %v : {BLOCK}", 0, None),
    "exponential": (f"{LOAD}\n %w = tile.exp %v : {BLOCK}", 1, None),
    "selected": (f"{LOAD}\n %z = tile.full 3.0 : {BLOCK}\n %w = tile.select %has, %v, %z : {BLOCK}", 3.0, 3.0),
    "selected otherwise": (
        f"{LOAD}\n %z = tile.full 3.0 : {BLOCK}\n %w = tile.select %hasnt, %v, %z : {BLOCK}",
        None,
        None,
    ),
    "a mask of others": (f"{LOAD}\n %w = tile.mask %v in (%i, _) else 5.0 : {BLOCK}", None, None),
    "a mask of others, alike": (f"{LOAD}\n %w = tile.mask %v in (%i, _) else 0.0 : {BLOCK}", 0, None),
    "a number": (f"%w = tile.full 2.0 : {BLOCK}", 2.0, 2.0),
}


@pytest.mark.parametrize(("body", "masked", "plain"), PADDING.values(), ids=PADDING)
def test_what_lanes_hold_that_items_do_not_have(body: str, masked: float | None, plain: float | None) -> None:
    _, values, items = parts(body)
    value = values.get("w") or values["v"]
    assert ItemPadding(items, loads_masked=True).of(value) == masked
    assert ItemPadding(items, loads_masked=False).of(value) == plain


def test_a_mask_by_the_range_puts_its_fill_there() -> None:
    _, values, items = parts(f"{LOAD}\n %w = tile.mask %v in (_, %k) else 5.0 : {BLOCK}")
    assert ItemPadding(items, loads_masked=True).of(values["w"]) == 5.0


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"%c = tile.transpose %has [1, 0] : {MASK}", True),
        (f"%c = tile.broadcast %has dims [0, 1] : {MASK} to !tile.tile<b0=8 x b1=16 x 4 x i1>", True),
        (f"%c = tile.and %hasnt, %hasnt : {MASK}", False),
        (f"%c = tile.not %has : {MASK}", False),
        (f"%c = tile.lt %lanes, %ends : {INTS}", True),
    ],
)
def test_conditions_that_hold_in_none_of_those_lanes(body: str, wanted: bool) -> None:
    _, values, items = parts(body)
    assert ItemPadding(items, loads_masked=True).never(values["c"]) is wanted
