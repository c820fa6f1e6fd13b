"""Index expressions are the numbers that NumPy computes, whatever is simplified on the way."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from kopt.ir.atoms import Lane, Symbol
from kopt.ir.choices import maximum, minimum, select, wrap
from kopt.ir.condition import compare
from kopt.ir.division import FloorDiv, delinearized, floordiv, mod
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr, block_number, lane, number, symbol
from kopt.ir.polynomial import parameter, parameters
from kopt.ir.rewriting import Rewriting, at_lanes, element, substitute
from kopt.ir.runs import contiguous, repeated
from kopt.ir.value_range import ValueRange
from test.ir.expressions import ARRAYS, SHAPE, SIZE, cases, evaluated, guards, holds

s, t = symbol("s"), symbol("t", range=ValueRange(0, 100))
i, j = lane(0, 16), lane(1, 8)
begin = block_number("block", 64, ValueRange(0, 999)) * 64


def test_forms_are_what_numpy_computes() -> None:
    for case in cases(2000):
        assert (evaluated(case.expr) == case.value).all(), str(case.expr)


def test_ranges_hold_every_number() -> None:
    for case in cases(2000, seed=1):
        found = case.expr.range
        assert all(int(value) in found for value in np.unique(case.value)), f"{case.expr}: {found}"


def test_differences_cancel() -> None:
    """Adding and taking away leaves equal numbers; a form without itself is nothing."""
    for first, second in zip(cases(500, seed=2), cases(500, seed=3), strict=True):
        a, b = first.expr, second.expr
        assert (evaluated(a + b - b) == first.value).all(), f"{a} and {b}"
        assert (evaluated(b - a) == second.value - first.value).all(), f"{b} without {a}"
        assert a - a == number(0)


def test_equal_forms_are_equal_numbers() -> None:
    """Forms that are built anew are equal, hash alike, and print alike; different numbers have different forms."""
    found: dict[IndexExpr, np.ndarray] = {}
    for case, again in zip(cases(1000, seed=4), cases(1000, seed=4), strict=True):
        assert case.expr == again.expr and hash(case.expr) == hash(again.expr) and str(case.expr) == str(again.expr)
        assert (found.setdefault(case.expr, case.value) == case.value).all(), str(case.expr)


def test_substitution() -> None:
    """With another expression for a name, the numbers are those of another array."""
    s = Symbol("s", (), ValueRange(-100, 100))
    for case, other in zip(cases(300, seed=5), cases(300, seed=6), strict=True):
        found, value = evaluated(substitute(case.expr, {s: mod(other.expr, 50)})), other.value % 50
        for row, column in ((0, 0), (1, 3), (3, 5)):
            want = np.broadcast_to(evaluate(case.expr, ARRAYS | {"s": value[row, column]}, SHAPE), SHAPE)
            assert found[row, column] == want[row, column], str(case.expr)


@pytest.mark.parametrize("size", [1, 2, 8, 48])
def test_one_form_serves_every_size(size: int) -> None:
    arrays = {**ARRAYS, "size": size}
    for case in cases(300, seed=7):
        found = substitute(case.expr, sizes={"size": size})
        assert (evaluate(found, ARRAYS, SHAPE) == evaluate(case.expr, arrays, SHAPE)).all(), str(case.expr)
        assert not any(parameters(factor) for factor in (found.const, *found.terms.values()))


def test_delinearized_numbers_make_the_number() -> None:
    """Inner digits are inside their dimensions, as far as ranges tell, and all of them make the number again."""
    for n, case in enumerate(cases(1000, seed=8)):
        shape = Random(n).choices([1, 2, 3, 8, 10, SIZE], k=3)
        digits, total = delinearized(case.expr, shape), number(0)
        for digit, size in zip(digits, shape, strict=True):
            total = total * size + digit
        assert (evaluated(total) == case.value).all(), f"{case.expr} in {shape}"
        for digit, size in zip(digits[1:], shape[1:], strict=True):
            assert digit.range.is_natural and (evaluated(digit) < evaluated(number(size))).all()
            assert not isinstance(size, int) or ValueRange(0, size - 1).covers(digit.range)


def test_runs_make_the_number() -> None:
    for case in cases(1500, seed=9):
        assert (evaluated(contiguous(case.expr).expr()) == case.value).all(), str(case.expr)


def test_conditions_are_what_numpy_computes() -> None:
    for guard in guards(1000, seed=10):
        assert (holds(guard.condition) == guard.value).all(), str(guard.condition)
        assert (holds(guard.condition.negated()) == ~guard.value).all(), str(guard.condition)


def test_conditions_bound_what_they_guard() -> None:
    for guard, case in zip(guards(1000, seed=11), cases(1000, seed=12), strict=True):
        found, values = guard.condition.range_of(case.expr), np.unique(case.value[guard.value])
        assert all(int(value) in found for value in values), f"{guard.condition}: {case.expr}"


@pytest.mark.parametrize(
    ("found", "expected"),
    {
        "whole parts": (floordiv(s * 8 + j, 8), s),
        "digits": (mod(s * 8 + j, 8), j),
        "nested quotients": (floordiv(floordiv(s, 4), 8), floordiv(s, 32)),
        "nested remainders": (mod(mod(s, 32), 8), mod(s, 8)),
        "multiples": (mod(s * 12, 4), number(0)),
        "remainder of a multiple": (mod(s * 8, 12), mod(s, 3) * 0 + mod(s * 2, 3) * 4),
        "quotient and remainder": (floordiv(s, 8) * 8 + mod(s, 8), s),
        "without the remainder": (s - mod(s, 8), floordiv(s, 8) * 8),
        "without the quotient": (s - floordiv(s, 8) * 8, mod(s, 8)),
        "of sums": ((s + t) - floordiv(s + t, 8) * 8 + 3, mod(s + t, 8) + 3),
        "coarse quotient": (floordiv(s * 64 + i * 8 + j, 16), s * 4 + floordiv(i, 2)),
        "coarse remainder": (mod(s * 64 + i * 8 + j, 16), mod(i, 2) * 8 + j),
        "groups of a remainder": (floordiv(mod(s, 32), 8), mod(floordiv(s, 8), 4)),
        "lanes of an aligned block": (mod(begin + i, 64), i),
        "blocks": (floordiv(begin + i, 64), floordiv(begin, 64)),
        "beyond a period": (floordiv(i + 16, 16), number(1)),
        "backwards": (floordiv(15 - i, 16), number(0)),
        "negative divisors": (floordiv(s, -4), floordiv(-s, 4)),
        "three digits": (floordiv(s, 32) * 4 + mod(floordiv(s, 8), 4), floordiv(s, 8)),
        "ordered": (minimum(i, i + 1), i),
        "bounded": (minimum(i, number(20)), i),
        "largest": (maximum(i, number(-1), s, s), maximum(s, i)),
        "nested": (minimum(s, minimum(t, s)), minimum(t, s)),
        "equal arms": (select(compare("lt", s, t), i, i), i),
        "known arms": (select(compare("lt", i, number(16)), s, t), s),
        "exact": (wrap(8, i), i),
        "wrapped twice": (wrap(8, wrap(16, s) + t), wrap(8, s + t)),
    }.values(),
)
def test_simplification(found: IndexExpr, expected: IndexExpr) -> None:
    assert found == expected, f"{found} is not {expected}"


@pytest.mark.parametrize(
    ("expr", "range"),
    {
        "an end without its begin": (minimum(begin + 64, number(1000)) - begin, ValueRange(None, 64)),
        "a remainder": (s - floordiv(s, 8) * 8, ValueRange(0, 7)),
        "a clamp": (minimum(maximum(s, number(0)), number(7)), ValueRange(0, 7)),
        "a multiple": (s * 16 + 8 * t, ValueRange(None, None, 8)),
        "a wrapped multiple": (wrap(32, s * 16), ValueRange(-(2**31), 2**31 - 1, 16)),
        "a chosen clamp": (select(compare("lt", s, number(0)), number(0), s), ValueRange(0, None)),
    }.values(),
)
def test_ranges(expr: IndexExpr, range: ValueRange) -> None:
    assert range.covers(expr.range) and expr.divisor % (range.divisor or 1) == 0, str(expr.range)


def test_comparisons_of_a_choice_are_its_condition() -> None:
    """As far as either arm decides them."""
    held = compare("lt", s, t)
    truth = select(held, number(1), number(0))
    assert compare("ne", truth, number(0)) == held
    assert compare("eq", truth, number(0)) == held.negated()
    assert compare("lt", truth * 4 + 1, number(3)) == held.negated()
    assert compare("ne", select(held, i, number(0)), number(0)) != held  # lane 0 is 0 in either arm


def test_begins_are_bounded_whatever_the_size() -> None:
    size = parameter("b", ValueRange(1, 1024))
    number = block_number("i", size, ValueRange(0, 999))
    element = number * size + lane(0, size)
    assert (number * size).range == ValueRange(0, 999)
    assert floordiv(element, size) == number and mod(element, size) == lane(0, size)
    assert substitute(floordiv(substitute(element, sizes={"b": 64}), 64)) == block_number("i", 64, ValueRange(0, 999))


@pytest.mark.parametrize(
    ("expr", "length", "dims"),
    [
        (s + i * 8 + j, 128, (1, 0)),
        (s + j * 16 + i, 128, (0, 1)),
        (s + i * 100 + j, 8, (1,)),
        (s * 16 + 7 - j, 8, (1,)),
        (floordiv(i, 4) * 8 + mod(j, 4), 4, (1,)),
        (floordiv(begin + i, 4) * 8 + mod(j + 3, 4), 1, ()),
        (symbol("rows", [0]) * 8 + j, 8, (1,)),
        (symbol("rows", [1]) + j, 1, ()),
        (element("columns", [j], by=[floordiv(j, 4)]) * 16 + j, 4, (1,)),
        (i + j * 2, 16, (0,)),
        (j * 2, 1, ()),
        (floordiv(j, 2), 1, ()),
    ],
)
def test_runs(expr: IndexExpr, length: int, dims: tuple[int, ...]) -> None:
    run = contiguous(expr)
    assert (run.length, tuple(peeled.dim for peeled in run.dims)) == (length, dims)
    assert run.expr() == expr


@pytest.mark.parametrize(
    ("expr", "size"),
    [
        (mod(wrap(32, s * 64 + j + 2), 500), 2),
        (mod(wrap(32, s * 8 + 3 - j), 100), 4),
        (wrap(32, s * 3 + j), 1),
        (mod(floordiv(j, 4) * 2 + mod(j, 4), 4), 2),
    ],
)
def test_runs_of_digits(expr: IndexExpr, size: int) -> None:
    """The last digit of a sum stands beside its remainder, and beside what a type holds of it: there nothing wraps."""
    run = contiguous(expr)
    assert run.length == size
    for value in (-700, -3, 0, 11, 2**29 - 1, 2**31 - 3):
        assert (evaluate(run.expr(), {"s": value}, (16, 8)) == evaluate(expr, {"s": value}, (16, 8))).all()


def test_groups_of_lanes_repeat_one_number() -> None:
    """In each group of as many lanes as are said to be alike, all are."""
    found = []
    for case in cases(1500, seed=14):
        for atom in (Lane(0, 4), Lane(1, 6)):
            size = repeated(case.expr, atom)
            assert isinstance(size, int) and atom.size % size == 0  # pyright: ignore[reportOperatorIssue]
            groups = np.stack(np.split(evaluated(case.expr), atom.size // size, axis=atom.dim))  # pyright: ignore
            assert (groups == groups.take([0], axis=atom.dim + 1)).all(), f"{case.expr} in groups of {size}"
            found += [size]
    assert {1, 2, 4, 6} <= {*found}


@pytest.mark.parametrize(
    ("expr", "size"),
    {
        "a quotient": (floordiv(begin + i, 4), 4),
        "another dimension": (j, 16),
        "lanes": (i * 3 + s, 1),
        "quotients": (floordiv(i, 4) * 3 + floordiv(i, 6), 2),
        "of no known number": (floordiv(symbol("rows", [0]), 4), 1),
        "loaded by a quotient": (mod(element("rows", [i], by=[floordiv(i, 4)]), 7), 4),
        "loaded by what is loaded": (
            element("rows", [i], by=[element("rows", [i], by=[floordiv(i, 8)]), floordiv(i, 2)]),
            2,
        ),
        "loaded by one number": (element("rows", [i], by=[floordiv(begin, 64)]), 16),
        "of a smaller tile": (element("rows", [floordiv(i, 8)]), 8),
    }.values(),
)
def test_repeated(expr: IndexExpr, size: int) -> None:
    assert repeated(expr, Lane(0, 16)) == size


def test_what_is_loaded_by_one_list_is_one_number() -> None:
    """Whatever lane it is taken at; the lanes of other names, and of no known list, are others."""
    by = [floordiv(begin, 64) + floordiv(i, 4)]
    grouped = Rewriting(lambda atom: floordiv(i, 4) * 4 if atom == Lane(0, 16) else None)
    loaded, other = element("rows", [i], by=by), element("columns", [i], by=by)
    assert grouped.expr(loaded) == loaded and grouped.expr(loaded) != other != loaded
    assert grouped.expr(symbol("rows", [0])) == symbol("rows", [0])
    fours = floordiv(i, 4) * 4
    assert at_lanes({0: fours}).expr(symbol("rows", [0])) == element("rows", [fours]) != symbol("rows", [0])
    assert at_lanes({0: j}).expr(symbol("rows", [0])) == symbol("rows", [1])


def test_atoms_inside_are_found() -> None:
    expr = minimum(floordiv(s + i, 7), t)
    assert {type(atom) for atom in expr.atoms()} >= {FloorDiv, Symbol, Lane}
    assert expr.along == {0}


def test_the_range_of_a_sum_with_a_choice_is_that_of_its_cases() -> None:
    """Each case under its own condition: a number that turns round at 0 stays in 0 to 7."""
    n = symbol("turned", range=ValueRange(-8, 7))
    turned = select(compare("lt", n, 0), n + 8, n)
    for factor, offset, low, high in ((1, 0, 0, 7), (1, 1, 1, 8), (2, -3, -3, 11), (-1, 0, -7, 0)):
        found = (turned * factor + offset).range
        assert (found.low, found.high) == (low, high)
    mixed = (turned - n).range  # 8 where it is negative, else 0
    assert (mixed.low, mixed.high) == (0, 8)
    size = (select(compare("lt", n, 0), number(0), n * 2) - n).range  # without its sign
    assert (size.low, size.high) == (0, 8)
