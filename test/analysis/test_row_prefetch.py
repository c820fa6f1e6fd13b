"""Rows that DMAs fetch outside of loops, a copy each: what is found, and what of it may come a cell ahead."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.row_prefetch import RowFetch, outer_values, row_fetch, why_not_ahead
from kopt.dialects.pallas import CallOp, DmaStartOp, DmaWaitOp
from kopt.dialects.tile import ForOp
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk
from test.named import named, only

V6E, V5P = TPU_CHIPS["v6e"], TPU_CHIPS["v5p"]
HBM, BUFFER, SEM = (
    "!tile.ref<500 x 256 x f32, hbm>",
    "!tile.ref<8 x 1 x 256 x f32, vmem>",
    "!tile.ref<1 x i32, semaphore>",
)
NUMBERS, PART = "!tile.ref<64 x i32, smem>", "!tile.ref<8 x i32, smem>"
WINDOWS = {
    "n_ref": ("<[64], (d0, d1) -> (0), smem>", NUMBERS),
    "part_ref": ("<[8], (d0, d1) -> (d1), smem>", PART),
    "outer_ref": ("<[8], (d0, d1) -> (d0), smem>", PART),
    "x_ref": ("<[500, 256], (d0, d1) -> (0, 0), hbm>", HBM),
    "old_ref": ("<[500, 256], (d0, d1) -> (0, 0), hbm>", HBM),
    "new_ref": ("<[500, 256], (d0, d1) -> (0, 0), hbm>", HBM),
}
SCRATCH = {"rows": BUFFER, "moved": SEM, "rows2": BUFFER, "moved2": SEM, "staged": PART}
REFS = ", ".join(f"%{name}: {type}" for name, type in {**{n: t for n, (_, t) in WINDOWS.items()}, **SCRATCH}.items())
ARRAYS = "memref<64xi32>, memref<64xi32>, memref<64xi32>, memref<500x256xf32>, memref<500x256xf32>"
TEXT = f"""
func.func @f(%n: memref<64xi32>, %x: memref<500x256xf32>, %old: memref<500x256xf32>) -> memref<500x256xf32> {{{{
  %o = pallas.call @f(%n, %n, %n, %x, %old) windows [{", ".join(window for window, _ in WINDOWS.values())}]
      semantics ({{semantics}}) aliases [4] : ({ARRAYS}) -> memref<500x256xf32> {{{{
  ^bb0({REFS}):
    tile.grid (%h: h0=1, %i: b0=8) in ({{cells}}) {{{{
      %begin = tile.begin %i : !tile.range<b0=8>
      %lanes = arith.constant 8 : index
      {{body}}
    }}}}
  }}}}
  func.return %o : memref<500x256xf32>
}}}}
"""


def number(ref: str = "n_ref", at: str = "at") -> str:
    """The number of a row as an index, ``%row``."""
    type = {"n_ref": NUMBERS}.get(ref, PART)
    return f"""%number = tile.get %{ref}[%{at}] : {type} -> !tile.tile<i32>
    %row = tile.extract %number : !tile.tile<i32> to index"""


def ends(kind: str, source: str, target: str, sem: str = "moved", axis: str = "i") -> str:
    types = ", ".join(BUFFER if end.startswith("%rows") else HBM for end in (source, target))
    return f"pallas.dma_{kind} {source} to {target} signal %{sem}[0] along %{axis} depth 2 : {types}, {SEM}"


def starts(
    numbers: str | None = None, bounds: str = "0, 8", source: str = "x_ref", axis: str = "i", more: str = ""
) -> str:
    """The loop that starts a copy of each row."""
    return f"""tile.for %r: b1=1 in ({bounds}) {{
      %lane = tile.begin %r : !tile.range<b1=1>
      %at = arith.addi %begin, %lane : index
      {number() if numbers is None else numbers}
      %one = tile.whole 1 : !tile.range<b2=1>
      %here = tile.shift %one by %row : !tile.range<b2=1>
      {ends("start", f"%{source}[%here, :]", "%rows[%lane, :, :]", axis=axis)}
      {more}
    }}"""


WAIT = ends("wait", "%rows[:, :, :]", "%rows[:, :, :]")
WAITS = f"""tile.for %w: b3=1 in (0, 8) {{
      %place = tile.begin %w : !tile.range<b3=1>
      {ends("wait", "%rows[%place, :, :]", "%rows[%place, :, :]")}
    }}"""
GET = f"%v = tile.get %rows[:, 0, :] : {BUFFER} -> !tile.tile<b0=8 x 256 x f32>"
PUT = f"%z = tile.full 0.0 : !tile.tile<256 x f32>\ntile.put %z, %{{}}[3, :] : !tile.tile<256 x f32>, {HBM}"


def parsed(*body: str, semantics: str = "parallel", cells: str = "1, 64"):
    text = TEXT.format(body="\n".join(body), semantics=f"parallel, {semantics}", cells=cells)
    module = parse(text)
    return module, only(module, CallOp), named(module)


def found(*body: str, **more: str) -> RowFetch | None:
    module, call, _ = parsed(*body, **more)
    return row_fetch(walk(module, DmaStartOp)[0], call)


def why(*body: str, chip=V6E, **more: str) -> str | None:
    module, call, _ = parsed(*body, **more)
    rows = row_fetch(walk(module, DmaStartOp)[0], call)
    assert rows is not None
    return why_not_ahead(rows, call, chip)


# What starts, awaits and reads rows.


@pytest.mark.parametrize("wait", [WAIT, WAITS], ids=["one for all", "one a row"])
def test_a_loop_of_starts_a_wait_and_a_read(wait: str) -> None:
    module, call, values = parsed(starts(), wait, GET)
    rows = row_fetch(only(module, DmaStartOp), call)
    assert rows is not None and rows.start is only(module, DmaStartOp) and rows.access is values["v"].owner
    assert rows.starts is walk(module, ForOp)[0] and rows.waits == walk(module, DmaWaitOp)
    assert rows.awaits is (rows.waits[0] if wait is WAIT else walk(module, ForOp)[1])


def test_rows_of_several_dimensions_and_single_rows() -> None:
    """Loops in loops; the outermost one is what starts the copies."""
    nested = f"tile.for %q: b4=1 in (0, 1) {{\n{starts()}\n}}"
    rows = found(nested, WAIT, GET)
    assert rows is not None and rows.starts.range.name_hint == "q"
    assert found(starts(bounds="0, 1"), WAIT, GET) is not None and found(starts(bounds="0, 0"), WAIT, GET) is not None


BETWEEN = "%y = arith.constant 3 : index"
OTHER = f"%u = tile.get %rows2[:, 0, :] : {BUFFER} -> !tile.tile<b0=8 x 256 x f32>"
PLAIN = ends("start", "%x_ref[0:8, :]", "%rows[:, 0, :]")
NOT_FOUND = {
    "no loop": (PLAIN, WAIT, GET),
    "under a condition": (f"tile.when first(%i) {{\n{starts()}\n}}", WAIT, GET),
    "all of it in a loop": (f"tile.for %q: b4=1 in (0, 4) {{\n{starts()}\n{WAIT}\n{GET}\n}}",),
    "nothing behind it": (starts(),),
    "not awaited": (starts(), GET),
    "awaited by nothing, and read": (starts(), BETWEEN, GET),
    "awaited later": (starts(), BETWEEN, WAIT, GET),
    "read later": (starts(), WAIT, BETWEEN, GET),
    "not read": (starts(), WAIT, BETWEEN),
    "another buffer is read": (starts(), WAIT, OTHER),
    "read twice": (starts(), WAIT, GET, GET.replace("%v", "%again")),
    "written as well": (starts(), WAIT, GET, f"tile.put %v, %rows[:, 0, :] : !tile.tile<b0=8 x 256 x f32>, {BUFFER}"),
    "another's semaphore": (starts(), WAIT.replace("%moved[", "%moved2["), GET),
    "another's buffer is awaited": (starts(), WAIT.replace("%rows[", "%rows2["), GET),
    "the semaphore of others": (starts(), WAIT, GET, ends("start", "%x_ref[0:8, :]", "%rows2[:, 0, :]")),
    "two copies a row": (
        starts(more=ends("start", "%old_ref[%here, :]", "%rows[%lane, :, :]")),
        WAIT,
        GET,
    ),
    "a copy of others beside it": (
        starts(more=ends("start", "%old_ref[%here, :]", "%rows2[%lane, :, :]", "moved2")),
        WAIT,
        GET,
    ),
    "two waits": (starts(), WAITS.replace("    }", f"    {WAIT}\n    }}"), GET),
}


@pytest.mark.parametrize("body", NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_stands_otherwise_or_has_others(body: tuple[str, ...]) -> None:
    assert found(*body) is None


def test_other_rows_of_the_array_do_not_matter() -> None:
    plain = ends("start", "%x_ref[0:8, :]", "%rows2[:, 0, :]", "moved2")
    assert found(starts(), WAIT, GET, plain, plain.replace("start", "wait"), OTHER) is not None


# A cell ahead.


def test_rows_by_numbers_that_all_cells_have() -> None:
    assert why(starts(), WAIT, GET) is None and why(starts(), WAITS, GET) is None


@pytest.mark.parametrize(
    ("semantics", "cells", "chip", "reason"),
    [
        ("parallel", "1, 64", V5P, "cores share the cells"),
        ("arbitrary", "1, 64", V5P, None),
        ("parallel", "1, 61", V6E, None),
    ],
)
def test_cells_follow_one_another_on_one_core(semantics: str, cells: str, chip, reason: str | None) -> None:
    assert why(starts(), WAIT, GET, semantics=semantics, cells=cells, chip=chip) == reason


def test_the_axis_of_the_copy_is_the_one_along_which_cells_follow() -> None:
    """The last one that has several cells, if any has."""
    for axis, cells in (("h", "4, 64"), ("i", "4, 8"), ("i", "1, 8")):
        assert why(starts(axis=axis), WAIT, GET, cells=cells) is not None
    for axis, cells in (("h", "4, 8"), ("i", "4, 64"), ("i", "1, 9")):
        assert why(starts(axis=axis), WAIT, GET, cells=cells) is None


def test_an_array_that_is_written_is_not_fetched_ahead() -> None:
    assert why(starts(), WAIT, GET, PUT.format("new_ref")) is None
    for array in ("old_ref", "new_ref"):  # an operand, and the result that takes it over
        assert why(starts(source=array), WAIT, GET, PUT.format("new_ref")) == "the kernel writes the array"
    assert why(starts(source="old_ref"), WAIT, GET) is None


UNKNOWN = "where the next cell's rows are, this cell cannot tell"
PUT_NUMBER = f"%k = tile.full 3 : !tile.tile<i32>\ntile.put %k, %staged[0] : !tile.tile<i32>, {PART}"


@pytest.mark.parametrize(
    ("numbers", "reason"),
    [
        (number("n_ref", "lane"), None),
        ("%row = arith.addi %at, %lane : index", None),
        ("%row = arith.constant 7 : index", None),
        # A part of the numbers, other ones in each cell, in the same place.
        (number("part_ref", "lane"), UNKNOWN),
        # The same part along the axis.
        (number("outer_ref", "lane"), None),
        # Scratch memory, that the kernel itself fills.
        (number("staged", "lane"), UNKNOWN),
    ],
)
def test_the_numbers_of_the_next_cell_are_known(numbers: str, reason: str | None) -> None:
    assert why(PUT_NUMBER, starts(numbers), WAIT, GET) == reason


@pytest.mark.parametrize(("ref", "reason"), [("n_ref", None), ("part_ref", UNKNOWN), ("staged", UNKNOWN)])
def test_so_is_where_a_loop_begins_and_ends(ref: str, reason: str | None) -> None:
    """And what is computed in front of it."""
    count = number(ref, "lanes" if ref == "n_ref" else "zero").replace("%row", "%count").replace("%number", "%loaded")
    zero = "%zero = arith.constant 0 : index"
    assert why(PUT_NUMBER, zero, count, starts(bounds="0, %count"), WAIT, GET) == reason
    row = "%row = arith.addi %count, %lane : index"
    assert why(PUT_NUMBER, zero, count, starts(row), WAIT, GET) == reason


# What a loop uses.


def test_values_around_a_loop_that_it_uses() -> None:
    module, _, values = parsed(starts(bounds="0, %lanes"), WAIT, GET)
    outer = outer_values(walk(module, ForOp)[0])
    assert len(outer) == len(set(outer))
    assert set(outer) == {values[name] for name in ("lanes", "begin", "n_ref", "x_ref", "rows", "moved", "i")}


def test_a_loop_in_a_loop_uses_its_numbers_too() -> None:
    nested = f"""tile.for %q: b4=1 in (0, 4) {{
      %each = tile.begin %q : !tile.range<b4=1>
      {starts("%row = arith.addi %each, %lane : index")}
    }}"""
    module, _, values = parsed(nested, WAIT, GET)
    both, inner = walk(module, ForOp)
    assert values["each"] not in outer_values(both) and values["each"] in outer_values(inner)


def test_a_loop_that_uses_nothing() -> None:
    module, *_ = parsed("tile.for %q: b4=1 in (0, 4) {\n%each = tile.begin %q : !tile.range<b4=1>\n}")
    assert outer_values(only(module, ForOp)) == []
