"""Recursion over what values are computed from: as without the decorator, once for each value, of any depth."""

from __future__ import annotations

import random
import sys
from collections import Counter

import pytest
from xdsl.dialects.builtin import i32
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValue

from kopt.analysis.bottom_up import bottom_up, operands_of, users_of


def graph(number: int, seed: int) -> list[SSAValue]:
    """Values, each computed from some of those before; the last ones from their neighbours, in a long chain."""
    draw, values = random.Random(seed), []
    for n in range(number):
        near = values[-1:] if n > number // 4 else []
        op = TestOp(operands=[*near, *draw.sample(values, min(len(values), draw.randrange(3)))], result_types=[i32])
        values.append(op.results[0])
    return values


def depths(values: list[SSAValue]) -> dict[SSAValue, int]:
    """How long the longest way to each value is, from the first on."""
    found: dict[SSAValue, int] = {}
    for value in values:
        found[value] = 1 + max((found[operand] for operand in operands_of(value)), default=0)
    return found


@pytest.mark.parametrize("number", [1, 20, 60, 5000])
def test_each_value_is_looked_at_once(number: int) -> None:
    values, calls = graph(number, number), Counter()

    @bottom_up()
    def depth(value: SSAValue) -> int:
        calls[value] += 1
        return 1 + max(map(depth, operands_of(value)), default=0)

    expected = depths(values)
    assert depth(values[-1]) == expected[values[-1]]
    assert set(calls.values()) == {1}
    # Nothing is remembered when the outermost call is over: the IR may be another.
    assert depth(values[-1]) == expected[values[-1]]
    assert set(calls.values()) == {2}


def test_other_arguments_are_part_of_the_question() -> None:
    values = graph(400, 1)

    @bottom_up(users_of)
    def reaches(wanted: int, value: SSAValue, odd: bool) -> bool:
        return (values.index(value) == wanted and odd) or any(reaches(wanted, user, odd) for user in users_of(value))

    for wanted in (150, 399):
        assert reaches(wanted, values[100], True) and not reaches(wanted, values[100], False)
    assert not reaches(50, values[100], True)


@pytest.mark.parametrize("number", [5, 3000])
def test_what_is_raised_comes_to_who_asks(number: int) -> None:
    values = graph(number, 3)

    @bottom_up()
    def reject(value: SSAValue) -> int:
        if value is values[0]:
            raise KeyError("the first")
        return sum(map(reject, operands_of(value)))

    @bottom_up()
    def tolerate(value: SSAValue) -> bool:
        if value is values[0]:
            raise KeyError("the first")
        try:
            return all(map(tolerate, operands_of(value)))
        except KeyError:
            return False

    chain = [TestOp(operands=[values[0]], result_types=[i32]).results[0]]
    for _ in range(number):
        chain.append(TestOp(operands=[chain[-1]], result_types=[i32]).results[0])
    for _ in range(2):
        with pytest.raises(KeyError, match="the first"):
            reject(chain[-1])
    assert not tolerate(chain[-1])


def test_the_stack_stays_small() -> None:
    values = graph(4000, 5)
    deepest = 0

    @bottom_up()
    def depth(value: SSAValue) -> int:
        nonlocal deepest
        frame, frames = sys._getframe(), 0
        while frame is not None:
            frame, frames = frame.f_back, frames + 1
        deepest = max(deepest, frames)
        return 1 + max(map(depth, operands_of(value)), default=0)

    start = 0
    frame = sys._getframe()
    while frame is not None:
        frame, start = frame.f_back, start + 1
    depth(values[-1])
    assert 25 < deepest - start < 200
