"""Whole dimensions that may become ranges: which are one, and which stay in one piece."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.launch_models.program_points import places
from kopt.analysis.launch_models.whole_dims import WholeDims
from kopt.dialects.tile import Access, GridOp
from kopt.walk import walk
from test.named import named, only

ROW, BLOCK = "!tile.tile<b0=8 x f32>", "!tile.tile<b0=8 x 256 x f32>"
TEXT = """
func.func @f(%x: memref<64x256xf32>, %y: memref<64x256xf32>, %z: memref<64x8x32xf32>, %n: memref<256xi32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.load %x[%i, :] : memref<64x256xf32> -> !tile.tile<b0=8 x 256 x f32>
    {body}
  }}
  func.return
}}
"""
FUNCTION = """{
    ^bb0(%p: !tile.tile<f32>, %q: !tile.tile<f32>):
      %s = tile.add %p, %q : !tile.tile<f32>
      tile.yield %s : !tile.tile<f32>
    }"""


def store(value: str) -> str:
    return f"tile.store %{value}, %y[%i, :] : {BLOCK}, memref<64x256xf32>"


def whole(body: str) -> tuple[WholeDims, dict]:
    module = parse(TEXT.format(body=body))
    grid = only(module, GridOp)
    ids = {op: f"{'l' if op.results else 's'}{number}" for number, op in enumerate(walk(grid, Access))}
    return WholeDims(places(grid), ids), named(module)


def found(body: str) -> list[tuple[str, int, bool]]:
    return [(one.tag, one.extent, one.is_reduced) for one in whole(body)[0].found]


def test_what_is_loaded_and_stored_is_one_dimension() -> None:
    dims, values = whole(f"%e = tile.exp %v : {BLOCK}\n{store('e')}")
    assert [(one.tag, one.extent, one.path, one.is_reduced) for one in dims.found] == [("l0.1", 256, ("b0",), False)]
    assert [dims.tag(values[name], 1) for name in "ve"] == ["l0.1", "l0.1"]
    # A loop's dimension is none.
    assert dims.tag(values["v"], 0) == ""


def test_a_dimension_that_is_reduced_and_repeated_is_still_one() -> None:
    body = f"""%m = tile.reduce max %v [1] : {BLOCK}
    %b = tile.broadcast %m dims [0] : {ROW} to {BLOCK}
    %e = tile.sub %v, %b : {BLOCK}
    {store("e")}"""
    assert found(body) == [("l0.1", 256, True)]


def test_two_arrays_that_meet_have_one_and_others_two() -> None:
    other = f"%w = tile.load %y[%i, :] : memref<64x256xf32> -> {BLOCK}"
    assert found(f"{other}\n%s = tile.add %v, %w : {BLOCK}") == [("l0.1", 256, False)]
    assert found(other) == [("l0.1", 256, False), ("l1.1", 256, False)]


@pytest.mark.parametrize(
    "body",
    [
        f"%s = tile.scan add %v dim 1 : {BLOCK}",
        f"%s, %o = tile.sort %v dim 1 descending : {BLOCK}",
        f"%s = tile.slice %v [0, 0] [8, 128] [1, 1] : {BLOCK} to !tile.tile<b0=8 x 128 x f32>",
        f"%s = tile.concat %v, %v dim 1 : {BLOCK}, {BLOCK} to !tile.tile<b0=8 x 512 x f32>",
        f"%s = tile.reshape %v : {BLOCK} to !tile.tile<b0=8 x 8 x 32 x f32>",
        f"%s = tile.argreduce max %v dim 1 : {BLOCK}",
        f"%k = tile.full 0 : !tile.tile<b0=8 x 256 x i32>\n"
        f"%s = tile.take_along %v, %k dim 1 : {BLOCK}, !tile.tile<b0=8 x 256 x i32>",
        f"%s = tile.associative_scan %v dim 1 : {BLOCK} {FUNCTION}",
        f"%s = tile.associative_reduce %v dim 1 : {BLOCK} {FUNCTION}",
        "%a = tile.arange 0, 1 : !tile.tile<256 x i32>\n"
        "%c = tile.cast %a : !tile.tile<256 x i32> to !tile.tile<256 x f32>\n"
        f"%b = tile.broadcast %c dims [1] : !tile.tile<256 x f32> to {BLOCK}\n%s = tile.add %v, %b : {BLOCK}",
    ],
)
def test_what_takes_a_dimension_apart_or_orders_it(body: str) -> None:
    """Alone, and where the lanes have gone on to other values."""
    assert found(body) == []
    assert found(body.replace("%v", "%e").join([f"%e = tile.exp %v : {BLOCK}\n", ""])) == []


@pytest.mark.parametrize(
    "text",
    [
        "%s = tile.scan add %t dim 0 : !tile.tile<4 x 256 x f32>",
        "%s = tile.argreduce max %t dim 0 : !tile.tile<4 x 256 x f32>",
        f"%s = tile.associative_scan %t dim 0 : !tile.tile<4 x 256 x f32> {FUNCTION}",
        f"%s = tile.associative_reduce %t dim 0 : !tile.tile<4 x 256 x f32> {FUNCTION}",
    ],
)
def test_other_dimensions_may_be_told_apart_by_what_orders_one(text: str) -> None:
    """Or not: those of a scan may, those of ops without a rule of their own stay in one piece."""
    body = f"%t = tile.load %x[0:4, :] : memref<64x256xf32> -> !tile.tile<4 x 256 x f32>\n{text}"
    tags = [tag for tag, *_ in found(body)]
    assert "l0.1" in tags and ("l1.1" in tags) == ("tile.scan" in text)


def test_lanes_of_whole_dimensions_that_are_given_by_numbers_stay_in_one_piece() -> None:
    body = """%k = tile.load %n[:] : memref<256xi32> -> !tile.tile<256 x i32>
    %g = tile.load %x[3, %k] : memref<64x256xf32> -> !tile.tile<256 x f32>"""
    assert found(body) == [("l0.1", 256, False)]


def test_a_product_sums_the_dimension_of_both_sides() -> None:
    body = f"""%t = tile.load %y[0:64, :] : memref<64x256xf32> -> !tile.tile<64 x 256 x f32>
    %u = tile.transpose %t [1, 0] : !tile.tile<64 x 256 x f32>
    %d = tile.dot %v, %u : {BLOCK}, !tile.tile<256 x 64 x f32> -> !tile.tile<b0=8 x 64 x f32>"""
    assert found(body) == [("l0.1", 256, True)]


def test_what_loops_carry_is_one() -> None:
    body = f"""%c = tile.full 0.0 : {BLOCK}
    %r = tile.for %k: b1=4 in (0, 32) iter(%a = %c) -> ({BLOCK}) {{
      %s = tile.add %a, %v : {BLOCK}
      tile.yield %s : {BLOCK}
    }}
    """
    dims, values = whole(body + store("r"))
    assert {dims.tag(values[name], 1) for name in "vcasr"} == {"l0.1"}
    assert found(body + (f"%o = tile.scan add %r dim 1 : {BLOCK}")) == []


def test_around_a_dimension_are_the_loops_that_all_its_accesses_have() -> None:
    inner = f"""tile.for %k: b1=4 in (0, 32) {{
      %w = tile.load %y[%i, :] : memref<64x256xf32> -> {BLOCK}
      USE
    }}"""
    paths = [one.path for one in whole(inner.replace("USE", ""))[0].found]
    assert paths == [("b0",), ("b0", "b1")]
    paths = [one.path for one in whole(inner.replace("USE", f"%s = tile.add %v, %w : {BLOCK}"))[0].found]
    assert paths == [("b0",)]
