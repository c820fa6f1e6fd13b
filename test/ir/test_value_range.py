"""Value ranges hold what NumPy and Python compute, and are as tight as the ends can say."""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kopt.ir.value_range import ANY, EMPTY, ValueRange

ENDS = st.one_of(st.none(), st.integers(-40, 40))
RANGES = st.builds(ValueRange, ENDS, ENDS, st.integers(0, 12))


def _rem(a: int, b: int) -> int:
    return 0 if b == 0 else int(np.fmod(a, b))


def _truncdiv(a: int, b: int) -> int:
    return 0 if b == 0 else (a - _rem(a, b)) // b


#: What each transfer function is of numbers.
OPERATIONS = {
    "__add__": lambda a, b: a + b,
    "__sub__": lambda a, b: a - b,
    "__mul__": lambda a, b: a * b,
    "__floordiv__": lambda a, b: a // b if b else 0,
    "__mod__": lambda a, b: a % b if b else 0,
    "truncdiv": _truncdiv,
    "rem": _rem,
    "minimum": min,
    "maximum": max,
    "bitand": lambda a, b: a & b,
    "bitor": lambda a, b: a | b,
    "bitxor": lambda a, b: a ^ b,
}


def members(range: ValueRange) -> list[int]:
    """Values of a range: all where they are few."""
    low, high = range.low, range.high
    low = low if low is not None else (0 if high is None else high) - 50
    high = high if high is not None else low + 50
    return [number for number in [*np.arange(low, high + 1).tolist()] if number in range]


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=100, deadline=None)
@given(first=RANGES, second=RANGES, data=st.data())
def test_results_are_in_the_range(name: str, first: ValueRange, second: ValueRange, data: st.DataObject) -> None:
    found = getattr(first, name)(second)
    if first.is_empty or second.is_empty:
        assert found == EMPTY
        return
    a, b = (data.draw(st.sampled_from(members(one))) if members(one) else None for one in (first, second))
    if a is not None and b is not None:
        assert OPERATIONS[name](a, b) in found


@settings(max_examples=300, deadline=None)
@given(first=RANGES, second=RANGES)
def test_sets(first: ValueRange, second: ValueRange) -> None:
    a, b = members(first), members(second)
    assert all(number in first.union(second) for number in a + b)
    assert all((number in second) == (number in first.intersection(second)) for number in a)
    assert all(abs(number) in abs(first) and -number in -first for number in a)


@given(range=RANGES)
def test_what_is_known_of_all_values(range: ValueRange) -> None:
    bounded, values = range.is_bounded, members(range)
    assert range.size == (len(np.arange(range.low, range.high + 1)) if bounded else None)  # pyright: ignore
    assert range.is_empty == (not values) and range.number == (values[0] if bounded and len(values) == 1 else None)
    assert range.is_natural == (range.is_empty or range.low is not None and range.low >= 0)
    assert (
        range.covers(EMPTY) and ANY.covers(range) and (range.covers(ANY) == (range.low is None and range.high is None))
    )
    assert range.covers(ValueRange(0, 0)) == (0 in ValueRange(range.low, range.high) and not range.is_empty)


@settings(max_examples=200, deadline=None)
@given(range=RANGES, bits=st.integers(1, 6), signed=st.booleans())
def test_widths(range: ValueRange, bits: int, signed: bool) -> None:
    """A width keeps what fits, and wraps what does not."""
    held = [number & ((1 << bits) - 1) for number in members(range)]
    held = [number - (1 << bits) if signed and number >> (bits - 1) else number for number in held]
    assert all(number in range.wrapped(bits, signed) for number in held)
    assert all(number in range for number in held) or range.wraps(bits, signed)


def test_the_ends_are_tight() -> None:
    assert ValueRange(1, 30, 8) == ValueRange(8, 24, 8)
    assert ValueRange(5, 4) == ValueRange(9, 15, 16) == EMPTY and EMPTY.is_empty
    assert ValueRange(6, 6) == ValueRange(6, 6, 2) == ValueRange.exactly(6)
    ends = [(-3, 9), (0, 9), (-9, 0), (None, 9), (-3, None), (None, None), (0, None)]
    assert all(ValueRange(*each, 0).number == 0 for each in ends)
    assert all(ValueRange(*each, 0) == EMPTY for each in [(1, 9), (-9, -1), (1, None), (None, -1)])
    assert ValueRange(0, 1000) // ValueRange.exactly(8) == ValueRange(0, 125)
    assert ValueRange(-5, -1) // ValueRange(1, None) == ValueRange(-5, -1)
    assert ValueRange(0, 7) // ValueRange(2, None) == ValueRange(0, 3)
    assert ValueRange(-5, 7) // ValueRange(2, None) == ValueRange(-3, 3)
    assert ValueRange(1, 7) // ValueRange(None, -1) == ValueRange(-7, -1)
    assert ValueRange(16, 31) % ValueRange.exactly(16) == ValueRange(0, 15)
    assert ANY % ValueRange.exactly(16) == ValueRange(0, 15)
    assert ValueRange(0, None, 64) % ValueRange.exactly(16) == ValueRange.exactly(0)
    assert ValueRange(0, None).bitand(ValueRange(3, 7)) == ValueRange(0, 7)
    assert (ANY * ValueRange.exactly(12)).divisor == 12


def test_ends_of_intervals_are_those_of_their_numbers() -> None:
    """Of sums, products, quotients and extremes; of remainders where the divisor is known."""
    intervals = [ValueRange(*ends) for ends in combinations_with_replacement(range(-5, 7), 2)]
    few = [ValueRange(*ends) for ends in ((-5, -5), (-3, -2), (-2, 3), (0, 0), (0, 2), (1, 1), (1, 4), (3, 3))]
    for name in ("__add__", "__sub__", "__mul__", "__floordiv__", "truncdiv", "minimum", "maximum", "__mod__"):
        for first, second in product(intervals, few):
            if name != "__mod__" or second.number is not None:
                results = [OPERATIONS[name](a, b) for a, b in product(members(first), members(second))]
                found = getattr(first, name)(second)
                assert (found.low, found.high) == (min(results), max(results)), (name, first, second)


def test_divisors_are_kept() -> None:
    eights = ValueRange(None, None, 8)
    assert (eights + ValueRange(None, None, 12)).divisor == 4 and (-eights).divisor == 8
    assert (eights * ValueRange(None, None, 3)).divisor == 24 and eights.times(3) == ValueRange(None, None, 24)
    assert [(eights // ValueRange.exactly(by)).divisor for by in (2, 3, 8)] == [4, 1, 1]
    assert [eights.truncdiv(ValueRange.exactly(by)).divisor for by in (-2, 3, 8)] == [4, 1, 1]
    assert [(eights % ValueRange.exactly(by)).divisor for by in (12, 3)] == [4, 1]
    assert eights.rem(ValueRange.exactly(12)).divisor == 4
    assert eights.maximum(ValueRange(None, None, 12)).divisor == eights.minimum(ValueRange(None, None, 12)).divisor == 4
    assert eights.bitand(ValueRange(None, None, 3)).divisor == 8
    assert ValueRange(0, None, 24).bitor(ValueRange(0, None, 4)).divisor == 4
    assert ValueRange(0, None, 24).bitxor(ValueRange(0, None, 16)).divisor == 8
    assert ValueRange(0, 6, 2).bitxor(ValueRange.exactly(6)) == ValueRange(0, 6, 2)
    assert ValueRange(0, 1000, 24).wrapped(8, signed=False) == ValueRange(0, 255, 8)


#: Of a thousand pairs of ranges: for how many the low end, the high end and the divisor are the best that there are.
TIGHT = {
    "__add__": (1000, 1000, 1000),
    "__sub__": (1000, 1000, 1000),
    "__mul__": (1000, 1000, 1000),
    "__floordiv__": (1000, 1000, 984),
    "__mod__": (837, 773, 944),
    "truncdiv": (1000, 1000, 986),
    "rem": (880, 879, 904),
    "minimum": (1000, 1000, 994),
    "maximum": (1000, 1000, 996),
    "bitand": (699, 678, 950),
    "bitor": (240, 149, 643),
    "bitxor": (183, 141, 643),
}


def test_how_often_nothing_better_could_be_said() -> None:
    """Ends and divisors are right of all numbers of small ranges, and as tight as they were."""
    ranges = [ValueRange(low, low + more, by) for low in (-12, -4, 0, 6) for more in (0, 6, 12) for by in (1, 2, 3, 4)]
    pairs = [(a, b) for a, b in product([each for each in ranges if not each.is_empty], repeat=2)]
    for name, function in OPERATIONS.items():
        counts = np.zeros(3)
        for first, second in pairs:
            results = [function(a, b) for a, b in product(members(first), members(second))]
            found, divisor = getattr(first, name)(second), gcd(*results)
            assert all(result in found for result in (min(results), max(results))), (name, first, second)
            assert divisor == 0 or divisor % found.divisor == 0, (name, first, second)
            counts += found.low == min(results), found.high == max(results), divisor in (0, found.divisor)
        assert tuple((counts * 1000 / len(pairs)).astype(int).tolist()) == TIGHT[name], name


def test_ranges_as_text() -> None:
    """Ends that there are, and the divisor where it says more than they do."""
    ranges = [EMPTY, ANY, ValueRange(0, 8), ValueRange(0, 8, 4), ValueRange(None, 8, 4), ValueRange(-3, None)]
    texts = ["nothing", "... to ...", "0 to 8", "0 to 8 by 4", "... to 8 by 4", "-3 to ..."]
    assert [str(each) for each in ranges] == texts
    assert [str(ValueRange.exactly(number)) for number in (0, 1, 6)] == ["0 to 0", "1 to 1", "6 to 6"]
