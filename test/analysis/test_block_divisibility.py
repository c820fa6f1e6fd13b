"""How large blocks may be whose beginnings are divided to name one row: judged by the lanes of blocks."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.block_divisibility import most_lanes
from kopt.ir.from_ssa import IndexAnalysis

TEXT = """
func.func @f(%x: memref<100000xf32>, %y: memref<100000x64xf32>, %m: index) {{
  tile.grid (%i: b0=16, %j: b1=4) in (4096, 64) {{
    %b = tile.begin %i : !tile.range<b0=16>
    %c = tile.begin %j : !tile.range<b1=4>
    {lines}
    %v = tile.load %y[%n, %j] : memref<100000x64xf32> -> !tile.tile<b1=4 x f32>
  }}
  func.return
}}
"""


def constant(name: str, number: int) -> str:
    """A line that gives a number a name."""
    return f"%{name} = arith.constant {number} : index\n"


def most(lines: str) -> dict[str, int]:
    """The most lanes by tag, the sizes of both blocks open."""
    return most_lanes(parse(TEXT.format(lines=lines)), IndexAnalysis(open_tags=["b0", "b1"]))


def shared(factor: int, added: int, by: int) -> int:
    """The largest power of two whose blocks have one quotient ``(factor · i + added) // by`` each, tried one by one."""
    best, size = 1, 2
    while size <= by:
        if all(
            len({(factor * lane + added) // by for lane in range(begin, begin + size)}) == 1
            for begin in range(0, 2 * by * size, size)
        ):
            best = size
        size *= 2
    return best


@pytest.mark.parametrize("by", [1, 2, 3, 12, 64, 96, 100])
def test_groups_hold_blocks_of_their_largest_power_of_two(by: int) -> None:
    found = most(constant("k", by) + "%n = arith.floordivsi %b, %k : index")
    assert found.get("b0", 1) == shared(1, 0, by)
    assert "b1" not in found


@pytest.mark.parametrize("factor, by", [(2, 64), (4, 64), (64, 64), (6, 12), (3, 24), (4, 6), (128, 64)])
def test_multiples_of_a_beginning(factor: int, by: int) -> None:
    lines = constant("s", factor) + constant("k", by) + "%p = arith.muli %b, %s : index\n"
    assert most(lines + "%n = arith.floordivsi %p, %k : index").get("b0", 1) == shared(factor, 0, by)


@pytest.mark.parametrize("added", [64, 640, -64, 0])
def test_numbers_that_whole_blocks_fit_before_keep_the_groups(added: int) -> None:
    lines = constant("s", added) + constant("k", 64) + "%p = arith.addi %b, %s : index\n"
    assert most(lines + "%n = arith.floordivsi %p, %k : index") == {"b0": shared(1, added, 64)} == {"b0": 64}


def test_blocks_that_begin_inside_of_groups_are_left_alone() -> None:
    lines = constant("s", 8) + constant("k", 64) + "%p = arith.addi %b, %s : index\n"
    assert most(lines + "%n = arith.floordivsi %p, %k : index") == {}


def test_the_smallest_of_several_groups_counts() -> None:
    lines = constant("k", 64) + constant("l", 32) + "%o = arith.floordivsi %b, %l : index\n"
    lines += "%w = tile.load %x[%o] : memref<100000xf32> -> !tile.tile<f32>\n"
    assert most(lines + "%n = arith.floordivsi %b, %k : index") == {"b0": 32}


def test_each_block_has_its_own() -> None:
    lines = constant("k", 64) + constant("l", 32) + "%o = arith.floordivsi %c, %l : index\n"
    lines += "%w = tile.load %x[%o] : memref<100000xf32> -> !tile.tile<f32>\n"
    assert most(lines + "%n = arith.floordivsi %b, %k : index") == {"b0": 64, "b1": 32}


@pytest.mark.parametrize(
    "lines",
    [
        "%n = arith.addi %b, %c : index",
        "%n = arith.floordivsi %b, %m : index",
        constant("k", 64) + "%unused = arith.floordivsi %b, %k : index\n" + constant("n", 0),
    ],
    ids=["no quotient", "an unknown divisor", "names no row"],
)
def test_no_rows_by_numbered_groups(lines: str) -> None:
    assert most(lines) == {}
