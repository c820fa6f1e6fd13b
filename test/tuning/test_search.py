"""Searching spaces: all of small ones, and of large ones as much as is allowed."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.tuning.knobs import Knob, Points, Space, count
from kopt.tuning.launches import Ranked
from kopt.tuning.search import search

SPACE = Space((Knob("a", (1, 2, 4, 8, 16, 32, 64, 128)), Knob("b", tuple(range(1, 33))), Knob("c", tuple(range(64)))))


def rank(points: Points) -> Ranked:
    """A bowl whose least is at 16, 9 and 40; some points do not fit, some the chip does not have."""
    a, b, c = (SPACE.values(points, name) for name in "abc")
    seconds = 1e-3 * (1 + (np.log2(a) - 4) ** 2 + (b - 9) ** 2 / 16 + (c - 40) ** 2 / 64)
    memory = (a * b).astype(float)
    possible = c % 7 != 3
    counted = np.where((memory > 1000) | ~possible, np.inf, seconds)
    return Ranked(seconds, counted, memory, possible)


def test_a_small_space_is_enumerated() -> None:
    """Every point is counted once, under what became of it."""
    found = search(SPACE, rank, SPACE.size, 0, most=10)
    every = rank(SPACE.all())
    assert found.points[0] == {"a": 16, "b": 9, "c": 40} and found.seconds == sorted(found.seconds)
    assert found.searched == SPACE.size == 8 * 32 * 64 and len(found.points) == 10
    assert found.impossible == (~every.possible).sum()
    assert found.too_large == (every.possible & (every.memory > 1000)).sum() and found.unknown == 0


def test_optuna_searches_a_large_one() -> None:
    """A few per cent of the points, the same of the same seed; within 5 % of the least of all."""
    found = [search(SPACE, rank, SPACE.size - 1, seed, asked=768) for seed in (0, 0)]
    assert found[0].points == found[1].points
    assert found[0].searched <= 768 and found[0].seconds[0] <= 1.05e-3


def test_starts_are_asked_for_first() -> None:
    """Known points are among what is looked at, however few that are."""
    start = {"a": 4, "b": 8, "c": 40}  # the numbers of 16, 9 and 40
    assert search(SPACE, rank, 128, 0, [start], asked=128).points[0] == {"a": 16, "b": 9, "c": 40}


def test_an_interrupt_keeps_what_was_found() -> None:
    """And is raised where that is nothing."""
    asked: list[int] = []

    def interrupted(points: Points) -> Ranked:
        asked.append(count(points))
        if len(asked) > 1:
            raise KeyboardInterrupt
        return rank(points)

    assert search(SPACE, interrupted, 128, 0).searched <= 128
    with pytest.raises(KeyboardInterrupt):
        search(SPACE, interrupted, 128, 0)


def test_a_space_without_knobs_has_one_point() -> None:
    """A kernel that leaves nothing open."""
    found = search(Space(()), lambda points: Ranked(np.ones(1), np.ones(1), np.ones(1), np.ones(1, bool)), 10, 0)
    assert found.points == [{}] and found.seconds == [1.0]


def test_without_optuna(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large space says what to install."""
    from kopt.errors import ConfigError
    from kopt.tuning import search as module

    monkeypatch.setattr(module, "is_installed", lambda package: False)
    with pytest.raises(ConfigError, match="searching them needs optuna") as caught:
        search(SPACE, rank, 100, 0)
    assert caught.value.notes == ("pip install 'kopt-compiler[tune]'",)
