"""Every visit to a nest of loops, judged by loops of Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from xdsl.ir import SSAValue

from kopt import parse
from kopt.analysis import visits as module
from kopt.analysis.visits import NotStatic, Visits, depends_on, visits
from test.named import named

TEXT = """
func.func @f(%n: index, %x: memref<50xi32>) {{
  tile.grid (%i: b0=4, %j: b1=3) in (10, 7) {{
    %b = tile.begin %i : !tile.range<b0=4>
    %e = tile.end %i : !tile.range<b0=4>
    %id = tile.id %j : !tile.range<b1=3>
    %count = tile.count %j : !tile.range<b1=3>
    %shifted = tile.shift %i by %n : !tile.range<b0=4>
    {lines}
  }}
  func.return
}}
"""


def values(lines: str = "") -> dict[str, SSAValue]:
    """The values of a grid's body by name."""
    return named(parse(TEXT.format(lines=lines)))


def rows(found: Visits, *ranges: SSAValue) -> list[tuple[int, ...]]:
    """The numbers of some ranges' blocks, a tuple a visit."""
    return list(zip(*(found.ids[range].tolist() for range in ranges), strict=True))


def test_no_loops_are_one_visit() -> None:
    assert visits([], {}).rows == 1


def test_a_nest_goes_fastest_inside() -> None:
    """Ten elements in blocks of four, seven in blocks of three."""
    of = values()
    found = visits([of["i"], of["j"]], {})
    assert rows(found, of["i"], of["j"]) == list(product(range(3), range(3))) and found.rows == 9
    assert found.begin(of["i"]).tolist() == [0, 0, 0, 4, 4, 4, 8, 8, 8]
    assert found.end(of["i"]).tolist() == [4, 4, 4, 8, 8, 8, 10, 10, 10]
    assert found.end(of["j"]).tolist() == [3, 6, 7] * 3


@pytest.mark.parametrize(
    "guards, kept",
    [([], [0, 1, 2]), (["first"], [0]), (["last"], [2]), (["first", "last"], [])],
)
def test_guards_keep_one_visit_of_a_loop(guards: list[str], kept: list[int]) -> None:
    of = values()
    found = visits([of["i"], of["j"]], {of["j"]: guards})
    assert rows(found, of["i"], of["j"]) == list(product(range(3), kept)) and found.rows == 3 * len(kept)
    found = visits([of["i"], of["j"]], {of["i"]: guards})
    assert rows(found, of["i"], of["j"]) == list(product(kept, range(3)))


INNER = """
    %two = arith.constant 2 : index
    %upper = arith.muli %id, %two : index
    tile.for %k: b2=2 in ({}, {}) {{
      %last = tile.end %k : !tile.range<b2=2>
    }}
"""


@pytest.mark.parametrize(
    "lower, upper, bounds",
    [
        ("%b", "%e", lambda i, j: (4 * i, min(10, 4 * i + 4))),
        ("0", "%upper", lambda i, j: (0, 2 * j)),
        ("%upper", "3", lambda i, j: (2 * j, 3)),
        ("%id", "%e", lambda i, j: (j, min(10, 4 * i + 4))),
        ("1", "6", lambda i, j: (1, 6)),
    ],
)
@pytest.mark.parametrize("guards", [[], ["first"], ["last"]])
def test_bounds_that_depend_on_the_visit(
    lower: str, upper: str, bounds: Callable[[int, int], tuple[int, int]], guards: list[str]
) -> None:
    wanted = []
    for i, j in product(range(3), range(3)):
        low, high = bounds(i, j)
        trips = max(0, math.ceil((high - low) / 2))
        kept = [k for k in range(trips) if (not guards) or k == (0 if guards == ["first"] else trips - 1)]
        wanted += [(i, j, k, low + 2 * k, min(high, low + 2 * k + 2)) for k in kept]
    of = values(INNER.format(lower, upper))
    i, j, k = of["i"], of["j"], of["k"]
    found = visits([i, j, k], {k: guards})
    numbers = [found.ids[i], found.ids[j], found.ids[k], found.begin(k), found.value(of["last"])]
    assert list(zip(*(column.tolist() for column in numbers), strict=True)) == wanted


def _truncated(a: int, b: int) -> int:
    return math.trunc(a / b)


@pytest.mark.parametrize(
    "op, python",
    [
        ("addi", lambda a, b: a + b),
        ("subi", lambda a, b: a - b),
        ("muli", lambda a, b: a * b),
        ("minsi", min),
        ("maxsi", max),
        ("floordivsi", lambda a, b: a // b),
        ("divsi", _truncated),
        ("remsi", lambda a, b: a - b * _truncated(a, b)),
    ],
)
@pytest.mark.parametrize("by", [3, -3])
def test_arithmetic_of_index_values(op: str, python: Callable[[int, int], int], by: int) -> None:
    lines = f"""
    %five = arith.constant 5 : index
    %by = arith.constant {by} : index
    %a = arith.subi %b, %five : index
    %r = arith.{op} %a, %by : index
    """
    of = values(lines)
    found = visits([of["i"]], {})
    assert found.value(of["r"]).tolist() == [python(4 * i - 5, by) for i in range(3)]


@pytest.mark.parametrize("op", ["floordivsi", "divsi", "remsi"])
def test_divisions_by_zero_are_not_computed(op: str) -> None:
    of = values(f"%r = arith.{op} %b, %id : index")
    found = visits([of["i"], of["j"]], {})
    with pytest.raises(NotStatic):
        found.value(of["r"])


def test_numbers_counts_and_whole_ranges() -> None:
    of = values("""
    %w = tile.whole 5 : !tile.range<b7=8>
    %begins = tile.begin %w : !tile.range<b7=8>
    %ends = tile.end %w : !tile.range<b7=8>
    """)
    found = visits([of["j"]], {})
    assert found.value(of["id"]).tolist() == [0, 1, 2]
    assert found.value(of["count"]).tolist() == [3, 3, 3]
    assert found.value(7).tolist() == [7, 7, 7]
    assert (np.broadcast_to(found.value(of["begins"]), 3).tolist(), found.value(of["ends"]).tolist()) == (
        [0] * 3,
        [5] * 3,
    )


def test_shifts_move_both_ends() -> None:
    of = values("%s = tile.shift %i by %id : !tile.range<b0=4>\n%t = tile.end %s : !tile.range<b0=4>")
    found = visits([of["i"], of["j"]], {})
    cells = list(product(range(3), range(3)))
    assert found.begin(of["s"]).tolist() == [4 * i + j for i, j in cells]
    assert found.value(of["t"]).tolist() == [min(10, 4 * i + 4) + j for i, j in cells]


def test_arguments_are_not_static() -> None:
    of = values("%s = arith.addi %b, %n : index\ntile.for %k: b2=2 in (0, %n) {\n}")
    found = visits([of["i"]], {})
    for value in (of["n"], of["s"]):
        with pytest.raises(NotStatic):
            found.value(value)
    with pytest.raises(NotStatic):
        found.begin(of["shifted"])
    with pytest.raises(NotStatic):
        found.enter(of["k"])


def test_too_many_visits_are_not_gone_through(monkeypatch: pytest.MonkeyPatch) -> None:
    of = values()
    monkeypatch.setattr(module, "LIMIT", 9)
    assert visits([of["i"], of["j"]], {}).rows == 9
    monkeypatch.setattr(module, "LIMIT", 8)
    with pytest.raises(NotStatic):
        visits([of["i"], of["j"]], {})


@pytest.mark.parametrize(
    "name, ranges",
    [
        ("b", {"i"}),
        ("id", {"j"}),
        ("two", set()),
        ("upper", {"j"}),
        ("sum", {"i", "j"}),
        ("last", {"i", "j", "k"}),
        ("k", {"i", "j", "k"}),
        ("i", {"i"}),
    ],
)
def test_the_ranges_that_values_depend_on(name: str, ranges: set[str]) -> None:
    of = values("%sum = arith.addi %b, %id : index\n" + INNER.format("%b", "%upper"))
    assert depends_on(of[name]) == {of[range] for range in ranges}


def test_what_is_no_index_arithmetic_depends_on_more_than_ranges() -> None:
    of = values(
        "%s = tile.load %x[%id] : memref<50xi32> -> !tile.tile<i32>\n%v = tile.extract %s : !tile.tile<i32> to index"
    )
    assert depends_on(3) == frozenset()
    for value in (of["n"], of["shifted"], of["v"]):
        with pytest.raises(NotStatic):
            depends_on(value)
