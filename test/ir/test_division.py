"""Quotients and remainders of index expressions are Python's, taken apart where ranges allow."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.ir.division import FloorDiv, Mod, delinearized, floordiv, mod, strides
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import ZERO, IndexExpr, lane, number, of_atom, recombined, symbol
from kopt.ir.polynomial import parameter
from kopt.ir.value_range import ValueRange
from test.ir.expressions import DIVISORS, SIZE, cases, evaluated

a, b = symbol("a"), symbol("b")
digit, octal = symbol("digit", range=ValueRange(0, 3)), symbol("octal", range=ValueRange(0, 7))
unit = symbol("unit", range=ValueRange(16, 23))


def quotient_of(expr: IndexExpr, by: int) -> IndexExpr:
    """The atom, with nothing taken apart."""
    return of_atom(FloorDiv(expr, number(by)))


def remainder_of(expr: IndexExpr, by: int) -> IndexExpr:
    return of_atom(Mod(expr, number(by)))


@pytest.mark.parametrize("by", DIVISORS)
def test_numbers_are_pythons(by: int) -> None:
    for value in range(-50, 50):
        assert floordiv(number(value), number(by)).number == value // by
        assert mod(number(value), number(by)).number == value % by


def test_expressions_are_numpys() -> None:
    for n, case in enumerate(cases(300, seed=20)):
        by = DIVISORS[n % len(DIVISORS)]
        assert (evaluated(floordiv(case.expr, number(by))) == case.value // by).all(), f"{case.expr} // {by}"
        assert (evaluated(mod(case.expr, number(by))) == case.value % by).all(), f"{case.expr} % {by}"


def test_divisors_that_are_expressions_are_numpys() -> None:
    for one, other in zip(cases(300, seed=21), cases(300, seed=22), strict=True):
        with np.errstate(all="ignore"):
            wanted = one.value // other.value, one.value % other.value
        assert (evaluated(floordiv(one.expr, other.expr)) == wanted[0]).all(), f"{one.expr} // {other.expr}"
        assert (evaluated(mod(one.expr, other.expr)) == wanted[1]).all(), f"{one.expr} % {other.expr}"


@pytest.mark.parametrize(
    ("expr", "by", "quotient", "remainder"),
    [
        (a * 8 + b, 8, a + quotient_of(b, 8), remainder_of(b, 8)),
        (a * 8 + octal, 8, a, octal),
        (a * 4 + digit, 8, quotient_of(a, 2), remainder_of(a, 2) * 4 + digit),
        (a * 4 + octal, 8, quotient_of(a * 4 + octal, 8), remainder_of(a * 4 + octal, 8)),
        (quotient_of(a, 2), 4, quotient_of(a, 8), remainder_of(quotient_of(a, 2), 4)),
        (remainder_of(a, 8), 2, remainder_of(quotient_of(a, 2), 4), remainder_of(a, 2)),
        (remainder_of(a, 8), 3, quotient_of(remainder_of(a, 8), 3), remainder_of(remainder_of(a, 8), 3)),
        (unit, 8, number(2), unit - 16),
        (unit, 16, number(1), unit - 16),
        (unit, 20, quotient_of(unit, 20), remainder_of(unit, 20)),
        (a, 1, a, ZERO),
        (ZERO, 8, ZERO, ZERO),
        (a * 8 + octal, -8, -a + quotient_of(-octal, 8), -remainder_of(-octal, 8)),
    ],
    ids=str,
)
def test_what_ranges_allow(expr: IndexExpr, by: int, quotient: IndexExpr, remainder: IndexExpr) -> None:
    assert floordiv(expr, number(by)) == quotient
    assert mod(expr, number(by)) == remainder


def test_block_sizes_divide_their_multiples() -> None:
    size = number(SIZE)
    assert floordiv(a * SIZE, size) == a and mod(a * SIZE, size) == ZERO
    assert floordiv(a * SIZE + lane(0, SIZE), size) == a and mod(a * SIZE + lane(0, SIZE), size) == lane(0, SIZE)
    assert floordiv(b, size) == of_atom(FloorDiv(b, size)) and mod(b, size) == of_atom(Mod(b, size))


@pytest.mark.parametrize(
    ("divisor", "quotient"),
    [
        (symbol("n", range=ValueRange(1, 9)), number(1)),
        (symbol("n", range=ValueRange(0, 9)), None),
    ],
)
def test_a_number_by_itself(divisor: IndexExpr, quotient: IndexExpr | None) -> None:
    """It is 1, unless it may be 0; nothing is left either way."""
    wanted = of_atom(FloorDiv(divisor, divisor)) if quotient is None else quotient
    assert floordiv(divisor, divisor) == wanted and mod(divisor, divisor) == ZERO


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 1, 6), (4, 3, 2, 2)])
def test_delinearized_is_unravelled(shape: tuple[int, ...]) -> None:
    found = delinearized(symbol("n"), shape)
    for n in range(int(np.prod(shape))):
        assert tuple(int(evaluate(digit, {"n": n})) for digit in found) == np.unravel_index(n, shape)


def test_inner_digits_stay_inside() -> None:
    """The first one takes what is too much, or below 0."""
    outer, inner = delinearized(symbol("n"), (3, 4))
    for n in (-1, 12, 17):
        assert (int(evaluate(outer, {"n": n})), int(evaluate(inner, {"n": n}))) == divmod(n, 4)
    assert delinearized(symbol("n"), ()) == ()


@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (2, 1, 6), (4, 3, 2, 2)])
def test_strides_are_those_of_rows(shape: tuple[int, ...]) -> None:
    assert strides(shape) == np.zeros(shape, np.int8).strides


def test_strides_of_block_sizes() -> None:
    rows, columns = parameter("rows"), parameter("columns")
    assert strides((7, rows, columns)) == (rows * columns, columns, 1)


def sum_of(*terms: tuple[IndexExpr, int], const: int = 0) -> IndexExpr:
    """A sum of atoms as they are, with nothing put together."""
    return IndexExpr(const, {expr.atom: factor for expr, factor in terms if expr.atom is not None})


by_8, rest_8 = quotient_of(a, 8), remainder_of(a, 8)


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (sum_of((a, 1), (by_8, -8)), rest_8),
        (sum_of((by_8, 8), (rest_8, 1)), a),
        (sum_of((by_8, 24), (rest_8, 3), (b, 1), const=5), a * 3 + b + 5),
        (sum_of((a, 1), (rest_8, -1)), by_8 * 8),
        (sum_of((quotient_of(a, 32), 4), (remainder_of(by_8, 4), 1)), by_8),
        (sum_of((by_8, 8), (rest_8, 2)), None),
        (sum_of((by_8, 4), (rest_8, 1)), None),
        (sum_of((by_8, 8), (remainder_of(b, 8), 1)), None),
        (sum_of((quotient_of(a, 32), 4), (remainder_of(by_8, 2), 1)), None),
        (sum_of((quotient_of(a, 32), 4), (remainder_of(quotient_of(b, 8), 4), 1)), None),
        (sum_of((quotient_of(a, 32), 4), (remainder_of(b, 4), 1)), None),
        (by_8, None),
    ],
    ids=str,
)
def test_recombined(expr: IndexExpr, wanted: IndexExpr | None) -> None:
    """Both parts of a number are that number; parts of others, or in other proportions, stay."""
    found = recombined(expr)
    assert found == (expr if wanted is None else wanted)
    for value in (-17, -1, 0, 5, 100):
        held = {"a": value, "b": 31 - value}
        assert evaluate(found, held) == evaluate(expr, held)
