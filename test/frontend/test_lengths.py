"""Numbers by how many lanes blocks have."""

from __future__ import annotations

import operator

import pytest

from kopt.frontend.lengths import MOST, Length, agreed, always, computed, length_of_block, outcomes

A, B = length_of_block("a", (4, 2)), length_of_block("b", (3,))
EVEN = computed(operator.mod, A, 2)


@pytest.mark.parametrize(
    ("length", "wanted"),
    [
        (A, [4, 2]),
        (B, [3]),
        (computed(operator.sub, A, B), [1, -1]),
        (computed(operator.sub, B, A), [-1, 1]),
        (computed(operator.mul, A, A), [16, 4]),  # one block has one number of lanes
        (computed(operator.add, 5, 6), [11]),
        (computed(operator.floordiv, 4, computed(operator.sub, A, 2)), None),  # by 0 in one case
        (length_of_block("c", tuple(range(MOST))), list(range(MOST))),
        (length_of_block("c", tuple(range(MOST + 1))), None),
        (Length({"c": (1, 2), "d": tuple(range(MOST // 2 + 1))}, lambda case: 0), None),
    ],
    ids=range(10),
)
def test_outcomes(length: Length, wanted: list[int] | None) -> None:
    assert outcomes(length) == wanted


@pytest.mark.parametrize(
    ("length", "wanted"),
    [
        (A, []),
        (B, [3]),
        (EVEN, [0]),
        (computed(operator.floordiv, 4, computed(operator.sub, A, 2)), []),
        (computed(lambda n: True if n == 4 else 1, A), []),
        (computed(lambda n: 1.0 if n == 4 else 1, A), []),
        (computed(lambda n: "a", A), ["a"]),
    ],
    ids=range(7),
)
def test_what_all_cases_agree_on(length: Length, wanted: list[object]) -> None:
    found = agreed(length)
    assert found == wanted and list(map(type, found)) == list(map(type, wanted))


def test_conditions_that_hold_always() -> None:
    assert always(operator.gt, A, 1) and always(operator.lt, 2, B)
    assert not always(operator.gt, A, 2) and not always(operator.gt, A, 4)
    assert not always(operator.and_, A, 6)  # a number is no truth
