"""The search for block sizes, on made-up costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from xdsl.dialects.builtin import f32

from kopt import parse
from kopt.analysis.block_roles import Role, block_roles
from kopt.analysis.block_search import (
    Sizes,
    capped,
    fitted,
    largest_tile,
    nested_loops,
    shrink,
    spread,
)
from kopt.dialects.tile import DimAttr, TileType
from kopt.ir.widths import next_power_of_two

NESTED = """
func.func @f(%n: index) {
  tile.grid (%i: b0=64) in (1000) {
    %b = tile.begin %i : !tile.range<b0=64>
    %e = tile.end %i : !tile.range<b0=64>
    tile.for %k: b1=8 in (%b, %e) {
      %c = tile.begin %k : !tile.range<b1=8>
      %d = tile.end %k : !tile.range<b1=8>
      tile.for %l: b2=4 in (%c, %d) {
      }
    }
    tile.for %m: b3=8 in (0, %n) {
    }
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("single", "wanted"),
    [
        ((), [("b1", "b0"), ("b2", "b1")]),
        (("b0",), [("b2", "b1")]),
        (("b1",), []),
        (("b3",), [("b1", "b0"), ("b2", "b1")]),
    ],
)
def test_loops_that_walk_a_block_of_another(single: Sequence[str], wanted: list[tuple[str, str]]) -> None:
    module = parse(NESTED)
    roles = block_roles(module)
    for tag in single:
        roles[tag].single = True
    assert nested_loops(module, roles) == wanted


GROUPS = [["a"], ["b", "c"], []]


def test_one_size_serves_a_group() -> None:
    wanted = {"a": 3, "b": 8, "c": 16}
    assert spread(GROUPS, wanted.__getitem__) == {"a": 3, "b": 16, "c": 16}
    assert spread([], wanted.__getitem__) == {}


@pytest.mark.parametrize(
    ("most", "wanted"),
    [({}, (64, 64, 64)), ({"a": 128}, (64, 64, 64)), ({"c": 16}, (64, 16, 16)), ({"b": 8, "c": 16, "a": 1}, (1, 8, 8))],
)
def test_no_block_is_larger_than_what_shares_its_row(most: Mapping[str, int], wanted: Sequence[int]) -> None:
    roles = {tag: Role(None, True, most=most.get(tag)) for tag in "abc"}
    sizes = {"a": 64, "b": 64, "c": 64}
    assert capped(GROUPS, sizes, roles) == dict(zip("abc", wanted, strict=True))
    assert sizes == {"a": 64, "b": 64, "c": 64}  # untouched


@pytest.mark.parametrize(
    ("sizes", "least", "wanted"),
    [
        ({"in": 64, "out": 16}, 1, {"in": 16, "out": 16}),
        ({"in": 8, "out": 16}, 1, {"in": 8, "out": 16}),
        ({"in": 64, "out": 16}, 32, {"in": 32, "out": 32}),  # the inner block may not shrink so far: the outer grows
        ({"in": 64}, 1, {"in": 64}),
    ],
)
def test_blocks_of_walking_loops_fit_what_they_walk(sizes: Sizes, least: int, wanted: Sizes) -> None:
    assert fitted([["in"], ["out"]], sizes, {"in": least, "out": 1}, [("in", "out")]) == wanted


def test_a_group_shrinks_as_one_to_fit() -> None:
    found = fitted([["in", "other"], ["out"]], {"in": 64, "other": 64, "out": 16}, {"in": 1}, [("in", "out")])
    assert found == {"in": 16, "other": 16, "out": 16}


# shrink


def area(sizes: Sizes) -> int:
    return sizes["a"] * sizes["b"]


def both(a: int, b: int) -> Sizes:
    return {"a": a, "b": b, "c": b}


@pytest.mark.parametrize("budget", [1, 3, 100, 1000, 64 * 64, 10**6])
def test_sizes_shrink_by_halves_until_the_cost_fits(budget: int) -> None:
    """What is left cannot be doubled; nothing shrinks that need not."""
    start = both(64, 64)
    found = shrink(GROUPS[:2], start, both(1, 1), [], area, budget)
    assert area(found) <= budget
    assert found["b"] == found["c"] and all(start[tag] % size == 0 for tag, size in found.items())
    doubled = [{**found, "a": 2 * found["a"]}, {**found, "b": 2 * found["b"], "c": 2 * found["c"]}]
    for larger in doubled:
        assert area(larger) > budget or any(larger[tag] > start[tag] for tag in larger)


def test_what_saves_most_is_halved_first() -> None:
    found = shrink(GROUPS[:2], both(64, 64), both(1, 1), [], lambda sizes: 10 * sizes["a"] + sizes["b"], 400)
    assert found == both(32, 64)


def test_no_group_gets_smaller_than_the_least() -> None:
    assert shrink(GROUPS[:2], both(64, 64), both(16, 32), [], area, 1) == both(16, 32)


def test_loops_fit_what_they_walk_all_the_while() -> None:
    """Only ``a`` costs; it may not become smaller than ``b``, which walks it, so ``b`` shrinks first, for nothing."""
    found = shrink([["a"], ["b"]], {"a": 64, "b": 16}, {"a": 1, "b": 1}, [("b", "a")], lambda sizes: sizes["a"], 16)
    assert found == {"a": 16, "b": 16}


def test_a_halving_that_saved_nothing_is_taken_back() -> None:
    """``a`` is halved first, for 64 less; then ``b`` has to, below 4, which is enough alone."""

    def cost(sizes: Sizes) -> int:
        return 0 if sizes["b"] < 8 else 100 + sizes["a"] + sizes["b"] // 8

    found = shrink([["a"], ["b"]], {"a": 128, "b": 16}, {"a": 32, "b": 1}, [], cost, 50)
    assert found["a"] == 128 and found["b"] == 4


# Powers of two.


def test_powers_of_two() -> None:
    for number in range(1, 70):
        assert next_power_of_two(number) == min(2**n for n in range(8) if 2**n >= number)
    assert next_power_of_two(0) == 1


@pytest.mark.parametrize(
    ("sizes", "wanted"),
    [({}, 8 * 128), ({"b0": 16}, 16 * 128), ({"b0": 1, "b1": 5000}, 5000)],
)
def test_the_largest_tile_has_plain_dimensions_rounded_up(sizes: Sizes, wanted: int) -> None:
    tiles = [
        TileType([DimAttr(8, "b0"), DimAttr(100)], f32),
        TileType([DimAttr(4, "b1")], f32),
        TileType([], f32),
    ]
    assert largest_tile(tiles, sizes) == wanted


def test_the_largest_tile_of_several_candidates() -> None:
    tiles = [TileType([DimAttr(8, "b0"), DimAttr(100)], f32), TileType([DimAttr(4, "b1")], f32)]
    found = largest_tile(tiles, {"b0": np.array([8, 1, 16]), "b1": np.array([4, 500, 4096])})
    assert found.tolist() == [8 * 128, 500, 4096]


def test_no_tile_is_the_largest() -> None:
    assert largest_tile([], {}) == 1
