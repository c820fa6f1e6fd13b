"""Which arrays loops may stream: what moves with a loop, where blocks end, what has to stay inside."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.streaming import (
    array_bytes,
    ends_by,
    fetches,
    is_computed,
    loops_around,
    moving_ops,
    sends,
    stays_inside_array,
    streamed_extents,
    streams,
    walks,
    written_schedule,
)
from kopt.analysis.windows import Window, windows
from kopt.dialects.tile import ForOp, GridOp, LoadOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, symbol
from kopt.ir.value_range import ValueRange
from kopt.walk import walk
from test.named import named, only

TEXT = """
func.func @f(%x: memref<{shape}xf32>, %y: memref<1000x128xf32>, %n: index, %m: index, %idx: memref<64xi32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %at = tile.begin %i : !tile.range<b0=8>
    {body}
  }}
  func.return
}}
"""


def loop(
    bounds: str, body: str, size: int = 64, schedule: str = "schedule prefetch", tag: str = "b1", name: str = "k"
) -> str:
    return f"tile.for %{name}: {tag}={size} in ({bounds}) {schedule} {{\n{body}\n}}"


def load(at: str, dims: str = "b1=64 x 128", shape: str = "1000x128", rest: str = "", name: str = "v") -> str:
    return f"%{name} = tile.load %x[{at}]{rest} : memref<{shape}xf32> -> !tile.tile<{dims} x f32>"


def store(at: str, dims: str = "b1=64 x 128", shape: str = "1000x128") -> str:
    type = f"!tile.tile<{dims} x f32>"
    return f"%w = tile.full 1.0 : {type}\ntile.store %w, %x[{at}] : {type}, memref<{shape}xf32>"


def window(body: str, shape: str = "1000x128") -> Window:
    module = parse(TEXT.format(body=body, shape=shape))
    grid, memory = only(module, GridOp), named(module)["x"]
    return windows(grid, [memory])[memory]


ROWS = load("%k, :")


def test_blocks_of_a_loop_that_prefetches_are_streamed() -> None:
    assert streams(window(loop("0, 1000", ROWS)))
    assert not streams(window(loop("0, 1000", ROWS, schedule="schedule resident")))
    assert not streams(window(loop("0, 1000", ROWS, schedule="")))
    assert streams(window(loop("0, 1000", ROWS, schedule="")), lambda _: "prefetch")


@pytest.mark.parametrize(
    "body",
    [
        # Whole tiles of memory: 8 rows of 128 lanes.
        loop("0, 1000", load("%k, :", "b1=12 x 128"), size=12),
        loop("4, 1000", ROWS),
        loop("%n, %m", ROWS),
        # It does not move, or not in the loop itself.
        loop("0, 1000", load("0:64, :", "64 x 128")),
        loop("0, 1000", loop("0, 8", ROWS, 8, "schedule resident", "b2", "h")),
        loop("0, 1000", f"%mask = tile.full true : !tile.tile<b1=64 x 128 x i1>\n{load('%k, :', rest=' mask %mask')}"),
        loop("0, 1000", f"{ROWS}\n{store('%k, :')}"),
        f"{loop('0, 1000', ROWS)}\n{load('0:64, :', '64 x 128', name='u')}",
    ],
)
def test_others_are_not(body: str) -> None:
    assert not streams(window(body))


def test_blocks_may_reach_beyond_an_array_that_is_padded_where_they_begin_at_their_multiples() -> None:
    """The last block of 64 of 1000 rows ends at 1024."""
    found = window(loop("0, 1000", ROWS))
    assert streamed_extents(found) == (1024, 128)
    assert streamed_extents(window(loop("0, 960", ROWS))) == (1000, 128)
    (access,) = found.loads
    assert stays_inside_array(access, IndexAnalysis())


def test_blocks_that_begin_anywhere_may_begin_at_the_last_element() -> None:
    body = f"%far = tile.shift %k by %n : !tile.range<b1=64>\n{load('%far, :')}"
    assert streamed_extents(window(loop("0, 1000", body))) == (1063, 128)


WRITTEN = loop("%n, 1000", store("%k, :"))
ALIGNED = """%low = arith.muli %n, %c64 : index
"""


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (ALIGNED + loop("%low, 1000", store("%k, :")), True),
        (ALIGNED.replace("64", "8") + loop("%low, 1000", store("%k, :")), False),  # may end anywhere
        (WRITTEN, False),  # begins anywhere
        (ALIGNED + loop("0, 1000", store("%k, :")), False),  # the grid moves what is known
        (ALIGNED + loop("%low, 1000", store("%k, :"), schedule="schedule resident"), False),
        (ALIGNED + loop("%low, 1000", store("0:64, :", "64 x 128")), False),
        (ALIGNED + loop("%low, 1000", load("%k, :")), False),
    ],
)
def test_loops_of_computed_bounds_send_what_they_write(body: str, wanted: bool) -> None:
    assert sends(window(body)) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (f"%far = tile.shift %i by %low : !tile.range<b0=8>\n{load('%far, :', 'b0=8 x 128')}", True),
        (load("%i, :", "b0=8 x 128"), False),
        (f"%far = tile.shift %i by %n : !tile.range<b0=8>\n{load('%far, :', 'b0=8 x 128')}", False),
        (
            loop("0, 64", f"%far = tile.shift %i by %low : !tile.range<b0=8>\n{load('%far, :', 'b0=8 x 128')}", 8),
            False,
        ),
        (
            loop("0, 8", f"%far = tile.shift %i by %low : !tile.range<b0=8>\n{load('%far, :', 'b0=8 x 128')}", 8),
            True,
        ),
    ],
)
def test_blocks_at_computed_places_are_fetched_once_a_cell(body: str, wanted: bool) -> None:
    assert fetches(window(ALIGNED + body)) == wanted


def test_a_loop_moves_its_range_and_what_is_computed_from_it() -> None:
    body = loop(
        "0, 1000",
        """%far = tile.shift %k by %n : !tile.range<b1=64>
    %b = tile.begin %far : !tile.range<b1=64>
    %c = arith.addi %b, %n : index
    %d = arith.addi %n, %n : index
    %l = tile.load %idx[%b] : memref<64xi32> -> !tile.tile<i32>
    %e = tile.extract %l : !tile.tile<i32> to index""",
    )
    module = parse(TEXT.format(body=body, shape="1000x128"))
    inner, values = only(module, ForOp), named(module)
    ops = {name: values[name].owner for name in ("far", "b", "c", "l", "e")}
    assert moving_ops(values["far"], inner) == {ops["far"]}
    assert moving_ops(values["c"], inner) == {ops["far"], ops["b"], ops["c"]}
    assert walks(values["k"], inner) and walks(values["c"], inner)
    # Known outside, a number, or of no loop at all.
    assert moving_ops(values["d"], inner) == moving_ops(values["n"], inner) == frozenset()
    assert not walks(values["d"], inner) and not walks(3, inner) and not walks(values["i"], inner)
    # The range alone is moved by no op.
    assert moving_ops(values["k"], inner) == frozenset()


def test_what_an_inner_block_computes_is_not_moved() -> None:
    """It is not known there where the loop's visit begins; what it takes from the loop's own block is."""
    body = loop(
        "0, 1000",
        """%b = tile.begin %k : !tile.range<b1=64>
    scf.if %is_odd {
      %c = tile.begin %k : !tile.range<b1=64>
      %d = arith.addi %c, %b : index
      %v = tile.load %x[%b, :] : memref<1000x128xf32> -> !tile.tile<128 x f32>
    }""",
    )
    module = parse(TEXT.format(body="%is_odd = arith.cmpi eq, %n, %m : index\n" + body, shape="1000x128"))
    inner, values = only(module, ForOp), named(module)
    assert moving_ops(values["c"], inner) == moving_ops(values["d"], inner) == frozenset()
    assert not walks(values["c"], inner) and not walks(values["d"], inner)
    assert moving_ops(values["b"], inner) == {values["b"].owner}


def test_what_reads_memory_that_may_change_is_not_repeated() -> None:
    body = loop("0, 64", "%b = tile.begin %k : !tile.range<b1=1>\n%u = atomic.rmw add %z, %idx[%b] : !tile.tile<i32>, "
                "memref<64xi32> -> !tile.tile<i32>\n%e = tile.extract %u : !tile.tile<i32> to index", 1)  # fmt: skip
    module = parse(TEXT.format(body=f"%z = tile.full 1 : !tile.tile<i32>\n{body}", shape="1000x128"))
    assert moving_ops(named(module)["e"], only(module, ForOp)) == frozenset()
    assert not walks(named(module)["e"], only(module, ForOp))


WRITTEN = "tile.store %u, %idx[%b] : !tile.tile<i32>, memref<64xi32>"


@pytest.mark.parametrize(
    ("bounds", "last", "repeated"),
    [("0, 64", "", True), ("%n, 64", "", False), ("0, 64", WRITTEN, False)],
    ids=["read only", "first visit unknown", "written"],
)
def test_numbers_are_loaded_a_visit_ahead_where_nothing_changes_them(bounds: str, last: str, repeated: bool) -> None:
    body = f"""%b = tile.begin %k : !tile.range<b1=1>
      %u = tile.load %idx[%b] : memref<64xi32> -> !tile.tile<i32>
      %e = tile.extract %u : !tile.tile<i32> to index
      {last}"""
    module = parse(TEXT.format(body=loop(bounds, body, 1), shape="1000x128"))
    assert walks(named(module)["e"], only(module, ForOp)) == repeated


def test_loops_around_are_those_of_the_cell_innermost_first() -> None:
    module = parse(TEXT.format(body=loop("0, %n", loop("0, 64", ROWS, 8, "", "b2", "h")), shape="1000x128"))
    outer, inner = walk(module, ForOp)
    (access,) = walk(module, LoadOp)
    assert list(loops_around(access)) == [inner, outer]
    assert [is_computed(op) for op in (outer, inner)] == [True, False]
    assert [written_schedule(op) for op in (outer, inner)] == ["prefetch", None]


@pytest.mark.parametrize(
    ("high", "size", "extent", "wanted"), [(56, 8, 64, True), (57, 8, 64, False), (None, 8, 64, False), (0, 0, 0, True)]
)
def test_where_blocks_end(high: int | None, size: int, extent: int, wanted: bool) -> None:
    assert ends_by(symbol("n", range=ValueRange(0, high)), size, extent) == wanted
    if high is not None:
        assert ends_by(IndexExpr(high), size, extent) == wanted


@pytest.mark.parametrize(("shape", "wanted"), [("1000x128", 512_000), ("0x128", 0)])
def test_bytes_of_an_array(shape: str, wanted: int) -> None:
    module = parse(TEXT.format(body="", shape=shape))
    assert array_bytes(named(module)["x"].type) == wanted
