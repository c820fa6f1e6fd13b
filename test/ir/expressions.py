"""Random index expressions: each built by the algebra and by NumPy at once, small ones first."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

import numpy as np

from kopt.ir.choices import maximum, minimum, product, select, wrap
from kopt.ir.condition import Condition, Named, compare, conjunction, disjunction
from kopt.ir.division import floordiv, mod
from kopt.ir.evaluation import Evaluation, evaluate
from kopt.ir.index_expr import IndexExpr, block_number, lane, number, symbol
from kopt.ir.polynomial import parameter
from kopt.ir.rewriting import element
from kopt.ir.value_range import ValueRange

SHAPE = (4, 6)
#: What names stand for: numbers, a tile along each dimension, the blocks' number, a size, a condition of a row.
ARRAYS = {
    "s": np.int64(-7),
    "t": np.int64(13),
    "rows": np.array([5, -3, 40, 2]),
    "columns": np.array([0, 1, 3, 2, 9, 8]),
    "both": np.arange(24).reshape(4, 6)[::-1] * 5 - 30,
    "block": np.int64(3),
    "size": 8,
    "long": np.arange(12) * 7 % 5 - 2,
    "even": np.array([True, False, True, False]),
    "loaded": np.array([9, 9, 4, 4, 9, 9]),
}
SIZE = parameter("size", ValueRange(1, 64))


@dataclass(frozen=True)
class Case:
    """An expression, and the numbers that it must be."""

    expr: IndexExpr
    value: np.ndarray


@dataclass(frozen=True)
class Guard:
    """A condition, and where it must hold."""

    condition: Condition
    value: np.ndarray


def evaluated(expr: IndexExpr) -> np.ndarray:
    """An expression's numbers for all lanes."""
    return np.broadcast_to(evaluate(expr, ARRAYS, SHAPE), SHAPE)


def holds(condition: Condition) -> np.ndarray:
    """Where a condition holds, for all lanes."""
    return np.broadcast_to(Evaluation(ARRAYS, SHAPE).condition(condition), SHAPE)


def _leaf(expr: IndexExpr, value) -> Case:
    return Case(expr, np.broadcast_to(np.asarray(value, np.int64), SHAPE))


#: What ``loaded`` is loaded by: one number in two lanes, another in the next two, and the first one again.
BY = (mod(floordiv(lane(1, 6), 2), 2) + symbol("t", range=ValueRange(0, 100)),)
LEAVES = (
    _leaf(symbol("s", range=ValueRange(-100, 100)), -7),
    _leaf(symbol("t", range=ValueRange(0, 100)), 13),
    _leaf(symbol("u", range=ValueRange(13, 13)), 13),
    _leaf(symbol("rows", [0], ValueRange(-10, 50)), ARRAYS["rows"][:, None]),
    _leaf(symbol("columns", [1], ValueRange(0, 9)), ARRAYS["columns"][None]),
    _leaf(symbol("both", [0, 1]), ARRAYS["both"]),
    _leaf(element("rows", [3 - lane(0, 4)], ValueRange(-10, 50)), ARRAYS["rows"][::-1, None]),
    _leaf(element("both", [lane(0, 4), floordiv(lane(1, 6), 2) * 2]), ARRAYS["both"][:, [0, 0, 2, 2, 4, 4]]),
    _leaf(element("columns", [number(4)], ValueRange(0, 9)), 9),
    _leaf(element("columns", [lane(0, 4) + 1], ValueRange(0, 9)), ARRAYS["columns"][1:5, None]),
    _leaf(element("long", [lane(1, 6) * 2 + 1]), ARRAYS["long"][None, 1::2]),
    _leaf(element("loaded", [lane(1, 6)], ValueRange(0, 9), BY), ARRAYS["loaded"][None]),
    _leaf(lane(0, 4), np.arange(4)[:, None]),
    _leaf(lane(1, 6), np.arange(6)[None]),
    _leaf(block_number("block", 16, ValueRange(0, 127)), 3),
    _leaf(block_number("block", 16, ValueRange(0, 127)) * 16 + lane(1, 6), 48 + np.arange(6)[None]),
    _leaf(number(SIZE), 8),
    _leaf(number(SIZE) * 4 + 1, 33),
    _leaf(block_number("block", SIZE, ValueRange(0, 999)) * SIZE, 24),
)
DIVISORS = (1, 2, 3, 4, 6, 8, 16, 24, -1, -4)
FACTORS = (-8, -1, 0, 2, 3, 4, 8, 16)
EVEN = Guard(Named("even", (0,)), np.broadcast_to(ARRAYS["even"][:, None], SHAPE))
NAMES = ("lt", "le", "gt", "ge", "eq", "ne")


def cases(count: int, seed: int = 0) -> Iterator[Case]:
    """Random expressions, of one leaf first, of eight at last."""
    return (case(Random(f"{seed} {n}"), 1 + n * 8 // count) for n in range(count))


def guards(count: int, seed: int = 0) -> Iterator[Guard]:
    """Random conditions."""
    return (guard(Random(f"{seed} {n}"), 1 + n * 6 // count) for n in range(count))


def case(random: Random, leaves: int) -> Case:
    """An expression of up to so many leaves."""
    if leaves <= 1:
        n = random.randint(-20, 20)
        return random.choice([*LEAVES, _leaf(number(n), n)])
    return random.choice(_UNARY)(random, leaves) if random.random() < 0.6 else _binary(random, leaves)


def guard(random: Random, leaves: int) -> Guard:
    """A condition on expressions of up to so many leaves."""
    if random.random() < 0.2:
        return EVEN
    first, second = (_compared(random, leaves // 2 + 1) for _ in range(2))
    if random.random() < 0.5:
        return first
    if random.random() < 0.5:
        return Guard(conjunction([first.condition, second.condition]), first.value & second.value)
    return Guard(disjunction([first.condition, second.condition.negated()]), first.value | ~second.value)


def _compared(random: Random, leaves: int) -> Guard:
    name, a, b = random.choice(NAMES), case(random, leaves), case(random, leaves)
    return Guard(compare(name, a.expr, b.expr), getattr(operator, name)(a.value, b.value))


def _binary(random: Random, leaves: int) -> Case:
    part = random.randint(1, leaves - 1)
    a, b = case(random, part), case(random, leaves - part)
    with np.errstate(all="ignore"):
        return random.choice(_BINARY)(random, a, b)


def _chosen(random: Random, a: Case, b: Case) -> Case:
    g = guard(random, 2)
    return Case(select(g.condition, a.expr, b.expr), np.where(g.value, a.value, b.value))


def _product(_: Random, a: Case, b: Case) -> Case:
    exact = product(a.expr, b.expr)
    return a if exact is None else Case(exact, a.value * b.value)


def _both(algebra: Callable, numbers: Callable) -> Callable[[Random, Case, Case], Case]:
    return lambda _, a, b: Case(algebra(a.expr, b.expr), numbers(a.value, b.value))


_BINARY = (
    _both(operator.add, operator.add),
    _both(operator.sub, operator.sub),
    _both(floordiv, operator.floordiv),
    _both(mod, operator.mod),
    _both(minimum, np.minimum),
    _both(maximum, np.maximum),
    _chosen,
    _product,
)


def _scaled(random: Random, leaves: int) -> Case:
    a, factor = case(random, leaves - 1), random.choice(FACTORS)
    return Case(a.expr * factor, a.value * factor)


_DIVISIONS = ((floordiv, operator.floordiv), (mod, operator.mod))


def _divided(random: Random, leaves: int) -> Case:
    a, by = case(random, leaves - 1), random.choice(DIVISORS)
    algebra, numbers = random.choice(_DIVISIONS)
    return Case(algebra(a.expr, by), numbers(a.value, by))


def _by_size(random: Random, leaves: int) -> Case:
    a, (algebra, numbers) = case(random, leaves - 1), random.choice(_DIVISIONS)
    return Case(algebra(a.expr, SIZE), numbers(a.value, 8))


def _wrapped(random: Random, leaves: int) -> Case:
    a, bits, signed = case(random, leaves - 1), random.choice([4, 8, 32]), random.random() < 0.5
    low = 1 << bits - 1 if signed else 0
    return Case(wrap(bits, a.expr, signed), (a.value + low) % (1 << bits) - low)


_UNARY = (_scaled, _divided, _divided, _by_size, _wrapped)
