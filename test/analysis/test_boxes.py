"""Counting of boxes, judged by counting elements one by one."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.analysis import boxes as module
from kopt.analysis.boxes import LIMIT, Boxes, Count, count, joined, times


def pairs(boxes: Boxes) -> list[list[tuple[int, int]]]:
    """Boxes as intervals in each dimension."""
    return [list(zip(a, b, strict=True)) for a, b in zip(boxes.lower.tolist(), boxes.upper.tolist(), strict=True)]


def held(boxes: Boxes, shape: tuple[int, ...]) -> np.ndarray:
    """How many boxes each element of an array is in; boxes may reach out of it."""
    total = np.zeros(shape, np.int64)
    for box in pairs(boxes):
        total[tuple(slice(max(0, lower), max(0, upper)) for lower, upper in box)] += 1
    return total


def of(*boxes: list[tuple[int, int]]) -> Boxes:
    """Several boxes of one rank."""
    return joined([Boxes.of(*box) for box in boxes])


def test_one_box_is_its_intervals() -> None:
    box = Boxes.of((1, 4), (-2, 7), (0, 0))
    assert (box.number, box.rank) == (1, 3)
    assert pairs(box) == [[(1, 4), (-2, 7), (0, 0)]]
    point = Boxes.of()
    assert (point.number, point.rank) == (1, 0)


def test_joined_boxes_keep_their_order() -> None:
    assert pairs(joined([of([(0, 1)], [(5, 9)]), Boxes.of((2, 3))])) == [[(0, 1)], [(5, 9)], [(2, 3)]]


def test_parts_inside_of_an_array() -> None:
    boxes = of([(-3, 2), (1, 9)], [(0, 4), (0, 5)], [(4, 6), (0, 5)], [(-2, 0), (0, 5)], [(2, 2), (0, 5)])
    assert pairs(boxes.within((4, 5))) == [[(0, 2), (1, 5)], [(0, 4), (0, 5)]]


def test_nothing_is_inside_of_an_empty_array() -> None:
    assert Boxes.of((0, 4), (0, 4)).within((4, 0)).number == 0


def test_times_is_every_box_by_every_box() -> None:
    first, second = of([(0, 1), (2, 3)], [(4, 5), (6, 7)]), of([(10, 11)], [(12, 13)], [(14, 15)])
    found = times(first, second)
    assert found is not None
    assert pairs(found) == [a + b for a in pairs(first) for b in pairs(second)]


def test_too_many_boxes_are_not_multiplied() -> None:
    many = Boxes(np.zeros((LIMIT // 2, 1), np.int64), np.ones((LIMIT // 2, 1), np.int64))
    two, three = of(*[[(0, 1)]] * 2), of(*[[(0, 1)]] * 3)
    allowed = times(two, many)
    assert allowed is not None and allowed.number == LIMIT
    assert times(many, three) is None


@pytest.mark.parametrize(
    "boxes, shape, wanted",
    [
        ([[(0, 4)], [(4, 10)]], (10,), Count(1, 1, (0,))),
        ([[(0, 4)], [(5, 10)]], (10,), Count(0, 1, (4,))),
        ([[(0, 4)], [(4, 8)], [(8, 12)]], (10,), Count(1, 1, (0,))),
        ([[(0, 6)], [(4, 10)]], (10,), Count(1, 2, (0,))),
        ([[(0, 10)], [(0, 10)]], (10,), Count(2, 2, (0,))),
        ([[(12, 20)], [(-5, 0)]], (10,), Count(0, 0, (0,))),
        ([[(0, 2), (0, 3)], [(0, 1), (3, 5)]], (2, 5), Count(0, 1, (1, 3))),
        ([[(0, 2), (0, 3)]], (1, 1), Count(1, 1, (0, 0))),
        ([[(0, 2), (0, 3)]], (2, 0), Count(1, 1)),
    ],
)
def test_fewest_most_and_where(boxes: list[list[tuple[int, int]]], shape: tuple[int, ...], wanted: Count) -> None:
    assert count(of(*boxes), shape) == wanted


@pytest.mark.parametrize("number", [0, 1])
def test_an_array_of_one_element_and_no_dimensions(number: int) -> None:
    boxes = Boxes(np.zeros((number, 0), np.int64), np.zeros((number, 0), np.int64))
    assert count(boxes, ()) == Count(number, number)


@pytest.mark.parametrize("seed", range(20))
def test_random_boxes_as_elements_count_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 8, random.integers(1, 4)).tolist())
    lower = random.integers(-3, 8, (int(random.integers(0, 12)), len(shape)))
    boxes = Boxes(lower, lower + random.integers(0, 9, lower.shape))
    wanted, found = held(boxes, shape), count(boxes, shape)
    assert found is not None
    assert (found.fewest, found.most) == (wanted.min(), wanted.max())
    assert wanted[found.gap] == found.fewest


def test_too_many_pieces_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight boxes cut a line into nine cuts, and a square into 81: more than 4 x 20."""
    line = of(*[[(at, at + 1)] for at in range(8)])
    square = of(*[[(at, at + 1), (at, at + 1)] for at in range(8)])
    monkeypatch.setattr(module, "LIMIT", 20)
    assert count(line, (8,)) == Count(1, 1, (0,))
    assert count(square, (8, 8)) is None
