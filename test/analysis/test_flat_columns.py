"""Gathers of flat storage that stay in the row at hand: ``flat[i * n + labels[i]]`` beside ``x[i, :]``."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.flat_columns import FlatColumn, flat_column
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.index_expr import lane, number
from kopt.ir.sums import SumAnalysis
from test.named import named, only

IDS = "!tile.tile<b0=8 x i32>"
TEXT = f"""
func.func @f(%x: memref<64x1024xf32>, %y: memref<64x1024xf32>, %n: memref<64xi32>, %own: memref<65536xf32>) {{{{
  %flat = host.reshape %{{viewed}} : memref<64x1024xf32> to memref<65536xf32>
  {{given}}host.launch @f (%ns = %n, %fs = %{{storage}}, %xs = %x, %ys = %y) writes [{{writes}}]
      : (memref<64xi32>, memref<65536xf32>, memref<64x1024xf32>, memref<64x1024xf32>) -> ({{written}}) {{{{
    tile.grid (%i: b0=8) in (64) {{{{
      %rows = tile.index %i : !tile.range<b0=8>
      %label = tile.load %ns[%i] : memref<64xi32> -> {IDS}
      %width = tile.full 1024 : {IDS}
      %three = tile.full 3 : {IDS}
      %first = tile.mul %rows, %width : {IDS}
      %some = tile.full true : !tile.tile<b0=8 x i1>
      %all = tile.full true : !tile.tile<b0=8 x 1024 x i1>
      %one = arith.constant 1 : index
      %below = tile.shift %i by %one : !tile.range<b0=8>
      {{body}}
    }}}}
  }}}}
  func.return
}}}}
"""
PARTS = {"writes": "", "written": "", "given": "", "viewed": "x", "storage": "flat"}


def held(at: str = "%i, :", dims: str = "b0=8 x 1024", array: str = "xs", rest: str = "") -> str:
    """The access that has rows."""
    return f"%block = tile.load %{array}[{at}]{rest} : memref<64x1024xf32> -> !tile.tile<{dims} x f32>\n"


def at(*lines: str) -> str:
    """The element numbers ``%at``, each line an op on tiles of integers."""
    return "".join(f"{line} : {IDS}\n" for line in lines)


def gather(rest: str = "") -> str:
    return f"%v = tile.load %fs[%at]{rest} : memref<65536xf32> -> !tile.tile<b0=8 x f32>\n"


def column(body: str, text: str = TEXT, **parts: str):
    """The rows that the elements are meant to be in, the values by name, and their sums."""
    module = parse(text.format(body=body, **PARTS | parts))
    values, sums = named(module), SumAnalysis()
    access = values["v"].owner
    assert isinstance(access, LoadOp)
    return flat_column(access, only(module, LaunchOp), sums), values, sums


LABELS = at("%at = tile.add %first, %label")


@pytest.mark.parametrize(
    "body",
    [
        held() + LABELS + gather(),
        LABELS + gather() + held(),
        held("%i, 0:1024") + LABELS + gather(),
        # Behind others that do not have the rows.
        held("%i, 0:8", "b0=8 x 8").replace("%block", "%part") + held() + LABELS + gather(),
        # In a loop or a branch, of rows that are outside of it.
        held() + LABELS + "tile.for %k: b1=2 in (0, 8) {\n" + gather() + "}",
        held() + LABELS + "tile.when first(%i) {\n" + gather() + "}",
    ],
)
def test_a_label_is_the_column_of_its_row(body: str) -> None:
    found, values, sums = column(body)
    assert found == FlatColumn(values["block"].owner, sums.expr(values["label"]))
    assert found.extent == 1024


@pytest.mark.parametrize(
    ("lines", "factor", "more"),
    [
        (("%a = tile.add %first, %label", "%at = tile.add %a, %three"), 1, 3),
        (("%a = tile.sub %first, %three", "%at = tile.add %a, %label"), 1, -3),
        (("%a = tile.mul %label, %three", "%at = tile.add %a, %first"), 3, 0),
        (("%at = tile.sub %first, %label",), -1, 0),
    ],
)
def test_the_column_is_all_beside_the_begin_of_the_row(lines: tuple[str, ...], factor: int, more: int) -> None:
    """Wherever that is, before the row too: the kernel looks."""
    found, values, sums = column(held() + at(*lines) + gather())
    assert found is not None and found.column == sums.expr(values["label"]) * factor + number(more)


def test_rows_may_begin_behind_the_block() -> None:
    lines = at("%a = tile.add %first, %width", "%at = tile.add %a, %label")
    found, values, sums = column(held("%below, :") + lines + gather())
    assert found is not None and found.column == sums.expr(values["label"])
    found, values, sums = column(held("%below, :") + LABELS + gather())
    assert found is not None and found.column == sums.expr(values["label"]) - number(1024)


@pytest.mark.parametrize(
    ("rows", "width", "block"),
    [(61, 1024, 8), (64, 1000, 8), (64, 1, 8), (5, 7, 8), (64, 1024, 1), (1, 1024, 1), (1, 1, 1)],
)
def test_sizes_that_do_not_divide_and_single_rows(rows: int, width: int, block: int) -> None:
    text = (
        TEXT.replace("64x1024", f"{rows}x{width}")
        .replace("65536", str(rows * width))
        .replace("in (64)", f"in ({rows})")
    )
    text = text.replace("<64xi32>", f"<{rows}xi32>").replace("full 1024", f"full {width}")
    text = text.replace("b0=8", f"b0={block}").replace(f"b0={block} x 1024", f"b0={block} x {width}")
    body = (held() + LABELS + gather()).replace("64x1024", f"{rows}x{width}").replace("65536", str(rows * width))
    body = body.replace("b0=8", f"b0={block}").replace("x 1024", f"x {width}")
    found, values, sums = column(body, text)
    assert found is not None and found.column == sums.expr(values["label"]) and found.extent == width


NOT_MEANT = {
    "rows of another width": at("%w = tile.sub %width, %three", "%r = tile.mul %rows, %w", "%at = tile.add %r, %label"),
    "of no row": at("%at = tile.add %label, %three"),
    "nothing beside the begin": at("%at = tile.mul %rows, %width"),
    "a known column": at("%at = tile.add %first, %three"),
    "a column of the lane's own": at("%at = tile.add %first, %rows"),
    "a column of lane and label": at("%a = tile.add %first, %rows", "%at = tile.add %a, %label"),
    "a row and a half": at("%a = tile.add %first, %first", "%at = tile.add %a, %label"),
    "a part of the begin": at("%r = tile.floordiv %first, %three", "%at = tile.add %r, %label"),
}


@pytest.mark.parametrize("lines", NOT_MEANT.values(), ids=NOT_MEANT)
def test_numbers_that_do_not_count_from_the_row(lines: str) -> None:
    assert column(held() + lines + gather())[0] is None


@pytest.mark.parametrize(
    "body",
    [
        # Nothing has the rows.
        LABELS + gather(),
        held("%i, 0:512", "b0=8 x 512") + LABELS + gather(),
        held("%i, 0:1024:2", "b0=8 x 512") + LABELS + gather(),
        held("%i, 3", "b0=8") + LABELS + gather(),
        held("0:8, :", "8 x 1024") + LABELS + gather(),
        held("%label, :") + LABELS + gather(),
        held("3, :", "1024") + LABELS + gather(),
        "tile.for %k: b1=512 in (0, 1024) {\n" + held("%i, %k", "b0=8 x b1=512") + LABELS + gather() + "}",
        # It has, but not all lanes, not of this array, not at this place.
        held(rest=" mask %all") + LABELS + gather(),
        held(array="ys") + LABELS + gather(),
        "tile.for %k: b1=2 in (0, 8) {\n" + held() + "}\n" + LABELS + gather(),
        # Not all lanes are asked for.
        held() + LABELS + gather(" mask %some"),
    ],
)
def test_where_nothing_has_the_rows(body: str) -> None:
    assert column(body)[0] is None


@pytest.mark.parametrize(
    "parts",
    [
        {"viewed": "y"},
        {"storage": "own"},
        {"writes": "1", "given": "%new = ", "written": "memref<65536xf32>"},
        {"writes": "2", "given": "%new = ", "written": "memref<64x1024xf32>"},
    ],
)
def test_storage_that_is_no_view_of_the_matrix_or_is_written(parts: dict[str, str]) -> None:
    assert column(held() + LABELS + gather(), **parts)[0] is None


def test_another_array_may_be_written() -> None:
    parts = {"writes": "3", "given": "%new = ", "written": "memref<64x1024xf32>"}
    assert column(held() + LABELS + gather(), **parts)[0] is not None


def test_blocks_of_flat_storage_are_no_gathers_and_blocks_of_numbers_have_one_dimension() -> None:
    run = "%v = tile.load %fs[%i] : memref<65536xf32> -> !tile.tile<b0=8 x f32>\n"
    assert column(held() + run)[0] is None
    wide = "!tile.tile<b0=8 x 2 x i32>"
    several = f"""%at = tile.broadcast %first dims [0] : {IDS} to {wide}
    %v = tile.load %fs[%at] : memref<65536xf32> -> !tile.tile<b0=8 x 2 x f32>\n"""
    assert column(held() + several)[0] is None


def test_a_gather_of_the_matrix_itself_needs_no_view() -> None:
    pick = "%v = tile.load %xs[%rows, %label] : memref<64x1024xf32> -> !tile.tile<b0=8 x f32>\n"
    assert column(held() + pick)[0] is None


def test_the_begin_of_the_row_is_what_goes_from_the_sum() -> None:
    """The numbers of blocks and lanes are in the address, and not in the column."""
    found, values, sums = column(held() + LABELS + gather())
    assert found is not None
    row = sums.begin(values["i"]) + lane(0, 8)
    assert sums.expr(values["at"]) == row * 1024 + found.column
