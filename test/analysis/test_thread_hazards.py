"""Where threads of a program have to wait for one another between accesses of one array."""

from __future__ import annotations

import pytest
from xdsl.ir import Operation

from kopt.analysis.thread_hazards import barrier_points
from kopt.dialects.triton import LaunchOp
from kopt.parsing import parse_module
from kopt.walk import walk

LAUNCH = """
func.func @f(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %n: memref<16xi32>) {
  VIEW
  triton.launch @f_0 (%a = %x, %b = OTHER, %m = %n) grid (4) num_warps 4 num_stages 1 {
    %pid = triton.program_id
    %i = triton.range %pid in (0, 64) : !tile.range<b0=16>
    %begin = tile.begin %i : !tile.range<b0=16>
    %c1 = arith.constant 1 : index
    %go = arith.cmpi sgt, %pid, %c1 : index
    %rows = tile.load %m[:] : memref<16xi32> -> !tile.tile<16 x i32>
    BODY
  }
  func.return
}
"""
BLOCK = "!tile.tile<b0=16 x 64 x f32>"
ROW = "!tile.tile<64 x f32>"
VIEW = "%z = host.reshape %x : memref<64x64xf32> to memref<64x64xf32>"


def points(body: str, view: str = "", other: str = "%y") -> list[Operation]:
    """Before which ops of a launch with this body barriers stand."""
    text = LAUNCH.replace("BODY", body).replace("VIEW", view).replace("OTHER", other)
    return barrier_points(next(iter(walk(parse_module(text), LaunchOp))))


def load(place: str, type: str = BLOCK, array: str = "%a", name: str = "%v") -> str:
    return f"{name} = tile.load {array}[{place}] : memref<64x64xf32> -> {type}\n"


def store(place: str, type: str = BLOCK, array: str = "%a", name: str = "%v") -> str:
    return f"tile.store {name}, {array}[{place}] : {type}, memref<64x64xf32>\n"


def update(place: str, kind: str = "add", result: str = "") -> str:
    gives = f" -> {BLOCK}" if result else ""
    return f"{result}{' = ' if result else ''}atomic.rmw {kind} %v, %a[{place}] : {BLOCK}, memref<64x64xf32>{gives}\n"


FULL = f"%v = tile.full 1 : {BLOCK}\n"
EXP = f"%e = tile.exp %v : {BLOCK}\n"
PICKED = "!tile.tile<16 x 64 x f32>"
OTHER = load("%begin, :", ROW, "%b", "%w")
BRANCH = "scf.if %go {\n" + store("0, :", ROW) + "}\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Reads alone, and accesses of two arrays.
        (load("%i, :") + load("%i, :", name="%w"), []),
        (load("%i, :") + store("%i, :", array="%b"), []),
        # What was stored is loaded: other threads may have stored it.
        (FULL + store("%i, :") + load("%i, :", name="%w"), ["tile.load"]),
        (FULL + store("%i, :") + load("%begin, :", ROW, name="%w"), ["tile.load"]),
        # One barrier is for all accesses before it.
        (FULL + store("%i, :") + load("%i, :", name="%w") + load("%begin, :", ROW, name="%u"), ["tile.load"]),
        # In place, lane by lane.
        (load("%i, :") + EXP + store("%i, :", name="%e"), []),
        (load("%i, :") + EXP + store("%i, :", name="%e") + store("%i, :", name="%e"), ["tile.store"]),
        # Another thread's lane is stored, or what is stored is of other places.
        (load("%i, :") + FULL.replace("%v", "%e") + store("%i, :", name="%e"), ["tile.store"]),
        (load("%i, :") + EXP + store("%i, :", name="%e", array="%b") + store("%i, :", name="%e"), ["tile.store"]),
        (load("0, :", ROW) + store("1, :", ROW), []),
        (load("0, :", ROW) + store("%begin, :", ROW), ["tile.store"]),
        (load("0, 0:32", "!tile.tile<32 x f32>") + store("0, 32:64", "!tile.tile<32 x f32>"), []),
        (load("0, 0:32", "!tile.tile<32 x f32>") + store("0, 31:63", "!tile.tile<32 x f32>"), ["tile.store"]),
        # Stores of the same lanes are in their order, those of others are not.
        (FULL + store("%i, :") + store("%i, :"), []),
        (FULL + store("%i, :") + OTHER + store("%begin, :", ROW, name="%w"), ["tile.store"]),
        # Rows by number may be any.
        (load("%rows, :", PICKED) + FULL.replace("%v", "%e") + store("%i, :", name="%e"), ["tile.store"]),
        # Updates of one kind commute, unless their order shows.
        (FULL + update("%i, :") + update("%i, :"), []),
        (FULL + update("%i, :") + update("%i, :", "max"), ["atomic.rmw"]),
        (FULL + update("%i, :", "xchg") + update("%i, :", "xchg"), ["atomic.rmw"]),
        (FULL + update("%i, :", result="%o") + update("%i, :") + store("%i, :", array="%b", name="%o"), ["atomic.rmw"]),
        (FULL + update("%i, :") + load("%i, :", name="%w"), ["tile.load"]),
    ],
)  # fmt: skip
def test_straight_lines(body: str, expected: list[str]) -> None:
    assert [op.name for op in points(body)] == expected


def test_views_of_an_array_are_the_array() -> None:
    body = FULL + store("%i, :") + load("%i, :", array="%b", name="%w")
    assert not points(body)
    assert [op.name for op in points(body, VIEW, "%z")] == ["tile.load"]


def loop(body: str, bounds: str = "(0, 64)", size: int = 16) -> str:
    return f"tile.for %k: b1={size} in {bounds} {{\n{body}}}\n"


COLUMNS = "!tile.tile<b0=16 x b1=16 x f32>"
ONES = f"%v = tile.full 1 : {COLUMNS}\n"
NUMBER = "%r = tile.id %k : !tile.range<b1=16>\n"
QUOTIENT = "%c2 = arith.constant 2 : index\n%q = arith.divsi %r, %c2 : index\n"
INNER = loop(load("%i, :")).replace("%k", "%l").replace("b1", "b2")
LATER = "%s = tile.shift %k by %c1 : !tile.range<b1=16>\n" + load("%i, %s", COLUMNS, name="%w")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        # Blocks of its own in each visit, computed in place; the block before, and the one after.
        (loop(load("%i, %k", COLUMNS) + store("%i, %k", COLUMNS)), []),
        (loop(load("%i, %k", COLUMNS, name="%w") + ONES + store("%i, %k", COLUMNS)), ["tile.store"]),
        (loop(ONES + store("%i, %k", COLUMNS) + LATER), ["tile.store", "tile.load"]),
        # The same block in each visit.
        (loop(load("%i, :", name="%v") + EXP + store("%i, :", name="%e")), ["tile.load"]),
        (loop(load("%i, :", name="%v") + EXP + store("%i, :", name="%e"), "(0, 16)"), []),
        (loop(FULL + store("%i, :")), []),
        # A row of its own in each visit, by the number of the block.
        (loop(NUMBER + load("%r, :", ROW, "%b") + store("%r, :", ROW)), []),
        (loop(NUMBER + QUOTIENT + load("%q, :", ROW) + store("%q, :", ROW)), ["tile.load"]),
        # What is before a loop, and what is after it.
        (FULL + store("%i, :") + loop(load("%i, %k", COLUMNS, name="%w")), ["tile.for"]),
        (loop(load("%i, %k", COLUMNS, name="%w")) + FULL + store("%i, :"), ["tile.store"]),
        (loop(INNER + FULL.replace("%v", "%u") + store("%i, :", name="%u")), ["tile.for", "tile.store"]),
        # Branches have barriers of their own, and leave what they did.
        (load("%begin, :", ROW) + BRANCH, ["tile.store"]),
        (load("0, :", ROW, "%b") + BRANCH + load("%i, :", name="%w"), ["tile.load"]),
    ],
)  # fmt: skip
def test_loops_and_branches(body: str, expected: list[str]) -> None:
    assert [op.name for op in points(body)] == expected


def test_a_barrier_in_a_loop_is_for_the_next_visit_too() -> None:
    """Visits of a while loop: none is known to be of other places."""
    body = f"""
    tile.while %go {{
      {load("%begin, :", ROW)}
      {store("0, :", ROW)}
      tile.yield %go : i1
    }}
    """
    assert [op.name for op in points(body)] == ["tile.load", "tile.store"]
