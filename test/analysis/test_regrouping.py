"""Which dimensions a reshape merges and splits."""

from __future__ import annotations

from itertools import product
from math import prod

import pytest

from kopt.analysis.regrouping import Group, dropped_tags, groups
from kopt.dialects.tile import TileType
from kopt.parsing import parse_module
from test.named import named


@pytest.mark.parametrize(
    "before, after, wanted",
    [
        ((4, 6, 1, 5), (2, 12, 5), [((0, 1), (0, 1)), ((3,), (2,))]),
        ((8,), (8,), [((0,), (0,))]),
        ((2, 3), (2, 3), [((0,), (0,)), ((1,), (1,))]),
        ((2, 3), (3, 2), [((0, 1), (0, 1))]),
        ((12,), (3, 4), [((0,), (0, 1))]),
        ((3, 4), (12,), [((0, 1), (0,))]),
        ((1, 8, 1), (8,), [((1,), (0,))]),
        ((8,), (1, 8, 1), [((0,), (1,))]),
        ((2, 3, 5, 7), (6, 35), [((0, 1), (0,)), ((2, 3), (1,))]),
        ((), (), []),
        ((1, 1), (), []),
        ((), (1,), []),
    ],
)
def test_groups(before: tuple[int, ...], after: tuple[int, ...], wanted: list) -> None:
    assert groups(before, after) == [Group(*pair) for pair in wanted]


@pytest.mark.parametrize("before, after, kept", [((0,), (3,), True), ((0, 1), (3,), False), ((0,), (3, 4), False)])
def test_one_dimension_that_stays_one_is_kept(before: tuple[int, ...], after: tuple[int, ...], kept: bool) -> None:
    assert Group(before, after).kept is kept


def shapes(lanes: int) -> list[tuple[int, ...]]:
    """All shapes of at most three dimensions that have so many lanes."""
    sizes = [size for size in range(1, lanes + 1) if lanes % size == 0]
    return [shape for rank in range(4) for shape in product(sizes, repeat=rank) if prod(shape) == lanes]


@pytest.mark.parametrize("lanes", [1, 4, 6, 12])
def test_groups_are_the_smallest_runs_of_as_many_lanes(lanes: int) -> None:
    """They end where row-major runs of both shapes end together: the lanes before them are the same number."""
    for before, after in product(shapes(lanes), repeat=2):
        found = groups(before, after)
        ends = [
            {prod(shape[: at + 1]) for at in range(len(shape)) if shape[at] != 1}
            for shape in (before, after)
        ]  # fmt: skip
        assert [prod(before[: group.before[-1] + 1]) for group in found] == sorted(ends[0] & ends[1])
        for side, shape in ((0, before), (1, after)):
            runs = [(group.before, group.after)[side] for group in found]
            assert all(run == tuple(range(run[0], run[-1] + 1)) for run in runs)
            covered = [dim for run in runs for dim in run]
            assert covered == sorted(set(covered))
            assert {dim for dim in range(len(shape)) if shape[dim] != 1} <= set(covered)
        assert all(prod(before[d] for d in g.before) == prod(after[d] for d in g.after) for g in found)


def tile(text: str) -> TileType:
    """The type of a tile of floats, by its dimensions."""
    type = named(parse_module(f"func.func @f(%x: !tile.tile<{text} x f32>) {{ func.return }}"))["x"].type
    assert isinstance(type, TileType)
    return type


@pytest.mark.parametrize(
    "before, after, wanted",
    [
        ("b0=8 x 4", "b0=8 x 4", []),
        ("b0=8 x 4", "b0=8 x 2 x 2", []),
        ("b0=8 x 4", "32", [0]),
        ("b0=8 x b1=4", "b0=8 x 4", [1]),
        ("b0=8 x b1=4", "32", [0, 1]),
        ("b0=8", "1 x b0=8", []),
        ("b0=8", "8", [0]),
        ("8 x 4", "32", []),
        ("b0=1 x 8", "b0=1 x 2 x 4", []),
        ("b0=1 x 8", "8", [0]),
        ("b0=8 x 0", "b0=8 x 0 x 4", []),
        ("b0=8 x 0", "0", [0]),
        ("b0=4 x b0=4", "b0=4 x 2 x 2", [1]),
        ("b0=4 x b0=4", "2 x 2 x b0=4", [0]),
    ],
)
def test_tags_that_a_reshape_drops(before: str, after: str, wanted: list[int]) -> None:
    assert dropped_tags(tile(before), tile(after)) == wanted
