"""Which arrays pipelined loops stream, by which blocks; and for each that they do not, why."""

from __future__ import annotations

import pytest

from kopt.analysis.pipelining import NotPipelined, is_pipelined, names, pipelined, plan_pipelined
from kopt.analysis.windows import windows
from kopt.dialects.tile import ForOp
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

PIPELINE = "schedule emit_pipeline"
NUMBERS = """%c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %is_first = arith.cmpi eq, %c1, %at : index
    """


def loop(body: str, bounds: str = "0, 1024", size: int = 128, name: str = "k", tag: str = "b1", how: str = PIPELINE):
    return f"tile.for %{name}: {tag}={size} in ({bounds}) {how} {{\n{body}\n}}"


def load(at: str = "%i, %k", dims: str = "b0=8 x b1=128", name: str = "v", rest: str = "") -> str:
    return f"%{name} = tile.load %x[{at}]{rest} : memref<64x1024xf32> -> !tile.tile<{dims + ' x ' if dims else ''}f32>"


def store(at: str = "%i, %k", dims: str = "b0=8 x b1=128", rest: str = "", name: str = "w") -> str:
    type = f"!tile.tile<{dims} x f32>"
    return f"%{name} = tile.full 1.0 : {type}\ntile.store %{name}, %x[{at}]{rest} : {type}, memref<64x1024xf32>"


def launch(body: str, writes: str = "", grid: str = "(%i: b0=8) in (64)") -> OneLaunch:
    at = "%at = tile.id %i : !tile.range<b0=8>\n    " if "%i: b0=8" in grid else "%at = arith.constant 5 : index\n"
    return one_launch(at + NUMBERS + body, grid, writes, x="64x1024xf32", n="64xi32")


def window(found: OneLaunch):
    return windows(found.grid, [found.values["x"]])[found.values["x"]]


ON_N = """%s = tile.load %n[%at] : memref<64xi32> -> !tile.tile<i32>
    %end = tile.extract %s : !tile.tile<i32> to index
    """
STREAMED = {
    "blocks of the grid and of the loop": (loop(load()), ("block", "block")),
    "all rows": (loop(load(":, %k", "64 x b1=128")), ("whole", "block")),
    "some rows": (loop(load("8:24, %k", "16 x b1=128")), ("whole", "block")),
    "one row": (loop(load("3, %k", "b1=128")), ("point", "block")),
    "the row of a cell": (loop(load("%at, %k", "b1=128")), ("point", "block")),
    "blocks from behind": (
        loop(
            """%r = tile.begin %k : !tile.range<b1=128>
            %c896 = arith.constant 896 : index
            %from = arith.subi %c896, %r : index
            %d = arith.subi %from, %r : index
            %l = tile.shift %k by %d : !tile.range<b1=128>
            """
            + load("%i, %l")
        ),
        ("block", "block"),
    ),
    "a block further on": (
        loop("%l = tile.shift %k by %c128 : !tile.range<b1=128>\n" + load("%i, %l"), "0, 896").replace(
            "tile.for", "%c128 = arith.constant 128 : index\ntile.for", 1
        ),
        ("block", "block"),
    ),
    "parts of a block": (
        loop(
            """%from = tile.begin %k : !tile.range<b1=128>
            %to = tile.end %k : !tile.range<b1=128>
            """
            + loop(load("%i, %j", "b0=8 x b2=32"), "%from, %to", 32, "j", "b2", "")
        ),
        ("block", "block"),
    ),
    "rows of an inner loop": (
        loop(loop(load("%j, %k", "b2=8 x b1=128"), "0, 64", 8, "j", "b2", "")),
        ("whole", "block"),
    ),
    "a row of an inner loop by its number": (
        loop(
            loop(
                "%r = tile.id %j : !tile.range<b2=1>\n" + load("%r, %k", "b1=128"), "0, 64", 1, "j", "b2", ""
            )
        ),
        ("whole", "block"),
    ),
    "the outer of two loops": (
        loop(loop(load("%i, %k"), "0, 64", 8, "j", "b2")),
        ("block", "block"),
    ),
    "a bound that is computed": (ON_N + loop(load(), "0, %end"), ("block", "block")),
    "a branch on a loop of known length": (loop(f"scf.if %is_first {{\n{load()}\n}}"), ("block", "block")),
    "a store": (loop(store()), ("block", "block")),
    "a store behind a load of its block": (loop(load() + "\n" + store()), ("block", "block")),
}  # fmt: skip


@pytest.mark.parametrize("name", STREAMED)
def test_what_is_streamed(name: str) -> None:
    body, kinds = STREAMED[name]
    found = launch(body, "x" if "tile.store" in body else "")
    plan = plan_pipelined(window(found))
    assert pipelined(window(found)) == plan
    outer = found.loops[0]
    for each in plan.walks:
        assert each.loop is outer and tuple(dim.kind for dim in each.dims) == kinds
        assert any(outer.range in names(number) for number in each.numbers)
        sizes = {"block": 8 if kinds[0] == "block" else 64, "whole": 64, "point": 1}
        assert [dim.size for dim in each.dims] == [sizes[kinds[0]], 128]
    assert plan.array.padded == (64, 1024) and plan.layout.blocks[-1] == 128


def test_numbers_of_blocks() -> None:
    """From the front, from behind, and one further on."""
    for name, first, last in (("blocks of the grid and of the loop", 0, 7), ("blocks from behind", 0, 7),
                              ("a block further on", 1, 7)):  # fmt: skip
        (walk_,) = plan_pipelined(window(launch(STREAMED[name][0]))).walks
        assert (walk_.numbers[1].range.low, walk_.numbers[1].range.high) == (first, last)
        assert walk_.dims[1].last == 7


BEFORE = "may begin before it"
REFUSED = {
    "no loop that is pipelined": (loop(load(), how="schedule resident"), "outside of pipelined loops too"),
    "a load beside the loop": (
        loop(load()) + "\n" + load("%i, 0:128", "b0=8 x 128", "beside"),
        "outside of pipelined loops too",
    ),
    "what does not move": (loop(load("%i, :", "b0=8 x 1024")), "do not move with the loop by whole blocks"),
    "blocks that begin between": (
        loop("%l = tile.shift %k by %c64 : !tile.range<b1=128>\n" + load("%i, %l")),
        "do not move with the loop by whole blocks",
    ),
    "parts that do not divide a block": (
        loop(
            """%from = tile.begin %k : !tile.range<b1=128>
            %to = tile.end %k : !tile.range<b1=128>
            """
            + loop(load("%i, %j", "b0=8 x b2=48"), "%from, %to", 48, "j", "b2", "")
        ),
        "do not move with the loop by whole blocks",
    ),
    "elements": (
        loop("%r = tile.id %k : !tile.range<b1=1>\n" + load("%at, %r", ""), size=1),
        "is read element by element",
    ),
    "computed places": (
        loop(
            "%s = tile.load %n[:] : memref<64xi32> -> !tile.tile<64 x i32>\n" + load("%s, %k", "64 x b1=128")
        ),
        "is accessed at computed places",
    ),
    "blocks of several sizes": (
        loop(load() + "\n" + load("0:8, %k", "8 x b1=128", "u") + "\n" + load("3, %k", "b1=128", "t")),
        "blocks of several sizes",
    ),
    "blocks before the array": (
        loop(
            """%b = arith.constant -128 : index
            %l = tile.shift %k by %b : !tile.range<b1=128>
            """
            + load("%i, %l")
        ),
        BEFORE,
    ),
    "blocks before the array from a number on": (
        ON_N
        + loop(
            """%r = tile.begin %k : !tile.range<b1=128>
            %c128 = arith.constant 128 : index
            %wide = arith.muli %end, %c128 : index
            %from = arith.subi %wide, %r : index
            %d = arith.subi %from, %r : index
            %l = tile.shift %k by %d : !tile.range<b1=128>
            """
            + load("%i, %l")
        ),
        BEFORE,
    ),
    "under a condition, for as long as a number says": (
        ON_N + loop(f"scf.if %is_first {{\n{load()}\n}}", "0, %end"),
        "under a condition, in blocks that may lie beyond it",
    ),
    "under a mask, for as long as a number says": (
        ON_N + loop("%m = tile.full true : !tile.tile<b0=8 x b1=128 x i1>\n" + load(rest=" mask %m"), "0, %end"),
        "under a condition, in blocks that may lie beyond it",
    ),
    "a store under a condition": (loop(f"scf.if %is_first {{\n{store()}\n}}"), "or by an inner loop"),
    "a store under a mask": (
        loop("%m = tile.full true : !tile.tile<b0=8 x b1=128 x i1>\n" + store(rest=" mask %m")),
        "under a condition or a mask",
    ),
    "a store of some rows": (loop(store("8:24, %k", "16 x b1=128")), "keeps some elements"),
    "a store of lanes that are there": (loop(store(), "0, 1000"), "keeps some elements"),
    "a load behind the store": (loop(store() + "\n" + load()), "is read after it is written"),
    "another block is written": (
        loop(load(":, %k", "64 x b1=128") + "\n" + store()),
        "while another of its blocks is on the chip",
    ),
    "an inner loop writes": (
        loop(load() + "\n" + loop(store("%i, %j", "b0=8 x b2=128"), "0, 1024", 128, "j", "b2")),
        "by a loop inside one that it is streamed by",
    ),
    "atomic updates": (
        loop("%w = tile.full 1.0 : !tile.tile<b0=8 x b1=128 x f32>\n"
             "atomic.rmw add %w, %x[%i, %k] : !tile.tile<b0=8 x b1=128 x f32>, memref<64x1024xf32>"),
        "is accessed by 'atomic.rmw'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_streamed(name: str) -> None:
    body, reason = REFUSED[name]
    found = launch(body, "x" if "tile.store" in body or "atomic" in body else "")
    with pytest.raises(NotPipelined, match=reason):
        plan_pipelined(window(found))
    assert pipelined(window(found)) is None


def test_the_schedule_may_be_another_than_what_is_written() -> None:
    found = launch(loop(load(), how=""))
    (loop_,) = walk(found.grid, ForOp)
    assert not is_pipelined(loop_) and is_pipelined(loop_, lambda _: "emit_pipeline")
    assert pipelined(window(found)) is None
    assert pipelined(window(found), lambda _: "emit_pipeline") is not None


def test_arrays_are_padded_to_whole_blocks() -> None:
    """Of 1000 columns in blocks of 128 the last one has 104; rows of the grid's blocks are padded alike."""
    found = one_launch(
        loop("%v = tile.load %x[%i, %k] : memref<60x1000xf32> -> !tile.tile<b0=8 x b1=128 x f32>", "0, 1000"),
        "(%i: b0=8) in (60)",
        x="60x1000xf32",
    )
    plan = plan_pipelined(window(found))
    assert plan.array.padded == (64, 1024) and "whole" in plan.array.reason
