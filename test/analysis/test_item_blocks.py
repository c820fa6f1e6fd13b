"""What keeps items in blocks: ops that combine them, and ops that tell how they are dealt out."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.item_blocks import item_tags, why_blocks_stay
from kopt.dialects.tile import GridOp
from test.named import only

TEXT = """
func.func @f(%x: memref<100x64xf32>, %lens: memref<100xi32>, %out: memref<100xf32>) {{
  tile.grid (%i: b0=8, %j: b2=4) in (100, 64) {{
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %v = tile.load %x[%i, %j] : memref<100x64xf32> -> !tile.tile<b0=8 x b2=4 x f32>
    %k = tile.full 0 : !tile.tile<b0=8 x b2=4 x i32>
    %c1 = arith.constant 1 : index
    jagged.for %r: b1=16 in %n {{
      %w = tile.full 0.0 : !tile.tile<b0=8 x b1=16 x f32>
    }}
    {body}
  }}
  func.return
}}
"""
TILE = "!tile.tile<b0=8 x b2=4 x f32>"
FUNCTION = """{
      ^bb0(%p: !tile.tile<f32>, %q: !tile.tile<f32>):
        %s = tile.add %p, %q : !tile.tile<f32>
        tile.yield %s : !tile.tile<f32>
      }"""
ASKS, COMBINES = "'{}' asks which items a block has", "'{}' combines items"


def grid(body: str) -> GridOp:
    return only(parse(TEXT.format(body=body)), GridOp)


def test_items_are_those_of_lengths() -> None:
    assert item_tags(grid("")) == {"b0"}


def test_items_are_those_of_starts_too() -> None:
    text = """
func.func @f(%starts: memref<100xi32>) {
  tile.grid (%i: b0=8, %j: b2=4) in (100, 64) {
    %s = tile.load %starts[%i] : memref<100xi32> -> !tile.tile<b0=8 x i32>
    %rows = jagged.rows %j from %s : !tile.range<b2=4>, !tile.tile<b0=8 x i32>
  }
  func.return
}"""
    assert item_tags(only(parse(text), GridOp)) == {"b0"}


def test_without_jagged_loops_there_are_no_items() -> None:
    text = "func.func @f() { tile.grid (%i: b0=8) in (100) { %b = tile.begin %i : !tile.range<b0=8> } func.return }"
    assert item_tags(only(parse(text), GridOp)) == set()


@pytest.mark.parametrize("name", ["begin", "end", "id", "count", "block_size", "valid_count"])
def test_numbers_of_a_block_show_how_items_are_dealt_out(name: str) -> None:
    given = grid(f"%z = tile.{name} %i : !tile.range<b0=8>")
    assert why_blocks_stay(given, {"b0"}) == ASKS.format(f"tile.{name}")
    assert why_blocks_stay(grid(f"%z = tile.{name} %j : !tile.range<b2=4>"), {"b0"}) is None


def test_a_shifted_range_is_still_the_items() -> None:
    body = """%far = tile.shift %i by %c1 : !tile.range<b0=8>
    %z = tile.begin %far : !tile.range<b0=8>"""
    assert why_blocks_stay(grid(body), {"b0"}) == ASKS.format("tile.begin")


def test_lanes_numbers_do_not_show_it() -> None:
    assert why_blocks_stay(grid("%z = tile.index %i : !tile.range<b0=8>"), {"b0"}) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("reduce", f"tile.reduce add %v [{{dim}}] : {TILE}"),
        ("argreduce", f"tile.argreduce max %v dim {{dim}} : {TILE}"),
        ("scan", f"tile.scan add %v dim {{dim}} : {TILE}"),
        ("take_along", f"tile.take_along %v, %k dim {{dim}} : {TILE}, !tile.tile<b0=8 x b2=4 x i32>"),
        ("associative_reduce", f"tile.associative_reduce %v dim {{dim}} : {TILE} {FUNCTION}"),
        ("associative_scan", f"tile.associative_scan %v dim {{dim}} : {TILE} {FUNCTION}"),
    ],
)
def test_combining_along_items_keeps_their_blocks(name: str, text: str) -> None:
    along, across = (grid("%z = " + text.replace("{dim}", str(dim))) for dim in (0, 1))
    assert why_blocks_stay(along, {"b0"}) == COMBINES.format(f"tile.{name}")
    assert why_blocks_stay(across, {"b0"}) is None


def test_sorting_items_keeps_their_blocks() -> None:
    body = f"%z, %o = tile.sort %v dim {{}} descending : {TILE}"
    assert why_blocks_stay(grid(body.format(0)), {"b0"}) == COMBINES.format("tile.sort")
    assert why_blocks_stay(grid(body.format(1)), {"b0"}) is None


def test_a_product_over_items_keeps_their_blocks() -> None:
    body = f"""%t = tile.transpose %v [1, 0] : {TILE}
    %z = tile.dot {{}} : {{}} -> !tile.tile<{{}} x f32>"""
    over = body.format("%t, %v", f"!tile.tile<b2=4 x b0=8 x f32>, {TILE}", "b2=4 x b2=4")
    beside = body.format("%v, %t", f"{TILE}, !tile.tile<b2=4 x b0=8 x f32>", "b0=8 x b0=8")
    assert why_blocks_stay(grid(over), {"b0"}) == COMBINES.format("tile.dot")
    assert why_blocks_stay(grid(beside), {"b0"}) is None


#: A loop over rows of items in blocks of a size.
ROWS = """
func.func @f(%x: memref<64xf32>, %y: memref<100x64xf32>, %lens: memref<100xi32>) {{
  tile.grid (%i: b0={size}) in (100) {{
    %n = tile.load %lens[%i] : memref<100xi32> -> !tile.tile<b0={size} x i32>
    jagged.for %k: b1=16 in %n {{
      %v = tile.load %x[%k] : memref<64xf32> -> !tile.tile<b1=16 x f32>
      %w = tile.load %y[%i, %k] : memref<100x64xf32> -> !tile.tile<b0={size} x b1=16 x f32>
      {body}
    }}
  }}
  func.return
}}
"""
COMBINES_LONGEST = "'{}' combines lanes up to the longest item of a block"
ASKS_LONGEST = "'{}' asks how long the longest item of a block is"
LONGEST = {
    "tile.reduce add %v [0] : !tile.tile<b1=16 x f32>": COMBINES_LONGEST.format("tile.reduce"),
    "tile.scan add %v dim 0 : !tile.tile<b1=16 x f32>": COMBINES_LONGEST.format("tile.scan"),
    "tile.end %k : !tile.range<b1=16>": ASKS_LONGEST.format("tile.end"),
    "tile.count %k : !tile.range<b1=16>": ASKS_LONGEST.format("tile.count"),
    "tile.valid_count %k : !tile.range<b1=16>": ASKS_LONGEST.format("tile.valid_count"),
}


@pytest.mark.parametrize("text", LONGEST)
def test_what_goes_up_to_the_longest_item_keeps_blocks_of_several(text: str) -> None:
    several, one = (only(parse(ROWS.format(size=size, body=f"%z = {text}")), GridOp) for size in (8, 1))
    assert why_blocks_stay(several, {"b0"}) == LONGEST[text]
    assert why_blocks_stay(one, {"b0"}) is None


@pytest.mark.parametrize("text", ["tile.begin %k", "tile.id %k", "tile.index %k", "tile.valid %k"])
def test_where_a_block_of_rows_begins_is_the_same_for_all_items(text: str) -> None:
    given = only(parse(ROWS.format(size=8, body=f"%z = {text} : !tile.range<b1=16>")), GridOp)
    assert why_blocks_stay(given, {"b0"}) is None


@pytest.mark.parametrize(
    "text",
    [
        "%z = tile.reduce add %w [1] : !tile.tile<b0=8 x b1=16 x f32>",
        """%m = tile.full 1.0 : !tile.tile<b1=16 x 4 x f32>
      %z = tile.dot %w, %m
        : !tile.tile<b0=8 x b1=16 x f32>, !tile.tile<b1=16 x 4 x f32> -> !tile.tile<b0=8 x 4 x f32>""",
    ],
)
def test_an_items_own_lanes_may_be_combined(text: str) -> None:
    """Also with lanes of all items: of a product, those that one side does not have take no part."""
    assert why_blocks_stay(only(parse(ROWS.format(size=8, body=text)), GridOp), {"b0"}) is None
