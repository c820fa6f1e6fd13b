"""Arithmetic that wraps in a few bits gives what that width holds wherever ``suffices`` says so."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from kopt.ir.atoms import Extremum, Select, Wrap
from kopt.ir.choices import maximum, minimum, select
from kopt.ir.condition import Comparison, Junction, compare
from kopt.ir.division import FloorDiv, Mod, floordiv, mod
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr, number, symbol
from kopt.ir.value_range import ValueRange
from kopt.ir.widths import is_power_of_two, suffices

byte = symbol("byte", range=ValueRange(0, 100))
wide = symbol("wide", range=ValueRange(0, 1000))
free = symbol("free")


def wrapped(value: int, bits: int) -> int:
    """What a signed integer of some bits holds."""
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


@pytest.mark.parametrize(
    ("expr", "bits", "wanted"),
    [
        (number(3), 8, True),
        (number(1000), 8, True),  # no atom needs it exactly: sums wrap as one
        (free * 7 + byte - 12345, 8, True),
        (floordiv(byte, 3), 8, True),
        (floordiv(wide, 3), 8, False),
        (floordiv(wide, 3), 16, True),
        (floordiv(symbol("most", range=ValueRange(-128, 127)), 3), 8, True),
        (floordiv(symbol("more", range=ValueRange(-128, 128)), 3), 8, False),
        (floordiv(symbol("less", range=ValueRange(-129, 127)), 3), 8, False),
        (floordiv(free, 3), 64, False),
        (mod(floordiv(wide, 3), 8) + free, 8, False),
        (mod(free, 16), 8, True),  # low bits are the same in every width
        (mod(wide, 16), 8, True),
        (mod(wide, 12), 8, False),
        (mod(byte, 12), 8, True),
        (mod(byte, wide), 8, False),
        (minimum(byte, byte * 2 - 50), 8, False),  # up to 150
        (minimum(byte, byte * 2 - 100), 8, True),
        (maximum(wide, free), 16, False),
        (select(compare("lt", byte, 20), wide, free), 8, True),  # what is chosen may wrap
        (select(compare("lt", wide, 20), byte, byte * 2), 8, False),  # what is compared may not
        ((mod(free, 16) + floordiv(wide, 500)) * 3, 8, False),  # also inside
    ],
    ids=str,
)
def test_suffices(expr: IndexExpr, bits: int, wanted: bool) -> None:
    assert suffices(expr, bits) is wanted


class Narrow:
    """Computes an expression with every step held in a few bits, as a vector unit would."""

    def __init__(self, held: dict, bits: int):
        self.held, self.bits = held, bits

    def expr(self, expr: IndexExpr) -> int:
        total = wrapped(int(str(expr.const)), self.bits)
        for atom, factor in expr.terms.items():
            total = wrapped(total + int(str(factor)) * self.atom(atom), self.bits)
        return total

    def atom(self, atom) -> int:
        if isinstance(atom, FloorDiv | Mod):
            by = self.expr(atom.divisor)
            op = operator.floordiv if isinstance(atom, FloorDiv) else operator.mod
            return wrapped(op(self.expr(atom.dividend), by) if by else 0, self.bits)
        if isinstance(atom, Extremum):
            return (max if atom.largest else min)(map(self.expr, atom.operands))
        if isinstance(atom, Select):
            return self.expr(atom.then if self.holds(atom.condition) else atom.otherwise)
        assert not isinstance(atom, Wrap)
        return wrapped(self.held[atom.name], self.bits)

    def holds(self, condition) -> bool:
        if isinstance(condition, Junction):
            return (all if condition.every else any)(map(self.holds, condition.conditions))
        assert isinstance(condition, Comparison)
        value = self.expr(condition.expr)
        return {"ge": value >= 0, "eq": value == 0, "ne": value != 0}[condition.relation]


SMALL, MIDDLE = symbol("small", range=ValueRange(-20, 20)), symbol("middle", range=ValueRange(0, 300))
EXPRS = [
    part + factor * other + const
    for other in (
        floordiv(SMALL, 3),
        mod(SMALL, 5),
        mod(MIDDLE, 8),
        floordiv(MIDDLE, 4),
        minimum(SMALL, MIDDLE),
        maximum(SMALL * 6, number(7)),
    )
    for part in (MIDDLE, select(compare("lt", SMALL, 4), MIDDLE, SMALL * 9))
    for factor in (1, -5)
    for const in (0, 1000)
]


@pytest.mark.parametrize("bits", [8, 10])
def test_narrow_arithmetic_is_right_where_it_suffices(bits: int) -> None:
    random = np.random.default_rng(bits)
    fitting = [expr for expr in EXPRS if suffices(expr, bits)]
    assert 0 < len(fitting) <= len(EXPRS)
    for expr in fitting:
        for _ in range(8):
            held = {"small": int(random.integers(-20, 21)), "middle": int(random.integers(0, 301))}
            assert Narrow(held, bits).expr(expr) == wrapped(int(evaluate(expr, held)), bits), str(expr)


def test_powers_of_two() -> None:
    assert [n for n in range(-9, 70) if is_power_of_two(n)] == [1, 2, 4, 8, 16, 32, 64]
