"""The loops that a chip's compiler makes of a call: a table of bodies, and what is counted of each."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.call_loops import CountedLoop, counted_loops
from kopt.analysis.executions import ArrayMemory, executions
from kopt.dialects.tile import GridOp
from test.named import only

STORE = "tile.store %one, %x[%n] : !tile.tile<f32>, memref<64xf32>"


def loops(body: str, cells: int = 8) -> list[CountedLoop]:
    """Of a grid, of whose cells the first quarter is early."""
    module = parse(f"""
func.func @f(%x: memref<64xf32>) {{
  tile.grid (%i: b0=1) in ({cells}) {{
    %n = tile.id %i : !tile.range<b0=1>
    %quarter = arith.constant {cells // 4} : index
    %is_early = arith.cmpi slt, %n, %quarter : index
    %is_late = arith.cmpi sge, %n, %quarter : index
    {body}
  }}
  func.return
}}""")
    grid = only(module, GridOp)
    return counted_loops(grid, executions(grid, ArrayMemory(lambda array: None)))


def loop(upper: int | str, body: str = "", rest: str = "", name: str = "k", tag: str = "b1") -> str:
    body = body or f"%one_{name} = tile.full 1.0 : !tile.tile<f32>\n{STORE.replace('one', 'one_' + name)}"
    return f"tile.for %{name}: {tag}=1 in (0, {upper}) {rest} {{\n{body}\n}}"


def branch(condition: str, body: str) -> str:
    return f"scf.if %{condition} {{\n{body}\n}}"


def stores(count: int, name: str) -> str:
    """So many numbers and a store: one operation more than that."""
    ones = [f"%{name}{n} = tile.full {n}.0 : !tile.tile<f32>" for n in range(count)]
    return "\n".join([*ones, STORE.replace("one", f"{name}0")])


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (loop(5), [CountedLoop(2, 40, 5)]),
        (loop(1), []),
        (loop(4, rest="schedule resident unroll 4"), []),
        (loop(8, rest="schedule resident unroll 4"), [CountedLoop(2, 16, 2)]),
        (loop(9, rest="schedule resident unroll 4"), [CountedLoop(2, 16, 2)]),
        # How often it runs differs from cell to cell: 0 + 1 + … + 7 in all.
        (loop("%n"), [CountedLoop(2, 28, None)]),
        (loop("%n", rest="schedule resident unroll 2"), [CountedLoop(2, 28, None)]),
        (loop(3, loop(5, name="j", tag="b2")), [CountedLoop(2, 24, 3), CountedLoop(3, 120, 5)]),
        # A loop of one visit is none: what is inside of it stands at its depth.
        (loop(1, loop(5, name="j", tag="b2")), [CountedLoop(2, 40, 5)]),
        (branch("is_early", loop(5)), [CountedLoop(2, 10, 5)]),
        (branch("is_late", loop(5)), [CountedLoop(2, 30, 5)]),
    ],
)
def test_loops_in_a_cell(body: str, found: list[CountedLoop]) -> None:
    grid, *inner = loops(body)
    assert (grid.depth, grid.times, grid.trips) == (1, 8, None)
    assert inner == found


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ("", ()),
        (branch("is_early", stores(1, "a")), (2,)),
        (branch("is_early", ""), ()),
        (branch("is_early", branch("is_late", stores(1, "a"))), (0,)),
        (branch("is_early", stores(1, "a") + "\n" + branch("is_late", "")), (2,)),
        (f"tile.when first(%i) {{\n{stores(1, 'a')}\n}}", (1,)),
        (f"tile.when last(%i) {{\n{stores(1, 'a')}\n}}", (1,)),
        (branch("is_late", loop(4)), (6,)),
        (loop(4, branch("is_late", stores(1, "a"))), ()),
    ],
)
def test_branches_of_a_cell(body: str, taken: tuple[int, ...]) -> None:
    # Another op beside them: the branches are no versions of the body.
    assert loops(f"{body}\n{stores(1, 'z')}")[0] == CountedLoop(1, 8, None, taken)


LEFT_OVER, WHOLE, FEW = (f"schedule resident unroll {n}" for n in (4, 3, 6))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (stores(1, "a"), 3),
        (stores(4, "a"), 6),
        # What is in a loop is counted by the loop itself.
        (stores(1, "a") + loop(9), 3),
        (stores(1, "a") + loop("%n"), 4),
        # Of nine visits one is left over behind four at a time, and none behind three; all of six are written out.
        (stores(1, "a") + loop(9, rest=LEFT_OVER), 3 + 4),
        (stores(1, "a") + loop(9, rest=WHOLE), 3),
        (stores(1, "a") + loop(6, rest=FEW), 3 + 6 * 4),
        (stores(1, "a") + loop(6, rest=LEFT_OVER), 3 + 6 * 4),
        (stores(1, "a") + loop(5, loop(2, name="j", tag="b2"), rest=FEW), 3 + 5 * 6),
    ],
)
def test_versions_of_a_body(first: str, second: int) -> None:
    """Each cell runs one of them, and the body as often as if it had the operations of all."""
    ten = stores(8, "b")
    for early, late, counts in ((first, ten, (second, 10)), (ten, first, (10, second))):
        (grid, *_) = loops(branch("is_early", early) + "\n" + branch("is_late", late), cells=4000)
        assert grid == CountedLoop(1, round((1000 * counts[0] + 3000 * counts[1]) / (10 + second)))


def test_a_body_has_versions_where_nothing_else_stands_beside_them() -> None:
    both = branch("is_early", stores(1, "a")) + "\n" + branch("is_late", stores(3, "b"))
    assert loops(both + "\n%end = tile.end %i : !tile.range<b0=1>")[0].times == 4
    assert loops(both + "\n%more = tile.full 1.0 : !tile.tile<f32>")[0] == CountedLoop(1, 8, None, (2, 6))
    assert loops(branch("is_early", stores(1, "a")))[0] == CountedLoop(1, 8, None, (2,))
