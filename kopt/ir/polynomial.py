"""Coefficients: integers, and polynomials in numbers that are chosen before a launch, such as block sizes.

`Parameter` names such a number; a `Coefficient` is an ``int`` wherever it can be one, so ``+``, ``*`` and ``==`` serve
both. Substituting sizes makes numbers of it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from kopt.cached_property import cached_property
from kopt.ir.value_range import ValueRange

#: Parameters with their powers; empty for the constant part.
Monomial = frozenset[tuple["Parameter", int]]
_ONE: Monomial = frozenset()
POSITIVE = ValueRange(1)


@dataclass(frozen=True)
class Parameter:
    """A number that a launch is made with: its name, and what it may be."""

    name: Hashable
    range: ValueRange = POSITIVE


@dataclass(frozen=True)
class Polynomial:
    """``Σ factor · monomial``, never a plain number: `coefficient` makes one of those an ``int``."""

    terms: Mapping[Monomial, int]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(frozenset(self.terms.items()))

    def __add__(self, other: Coefficient) -> Coefficient:
        if not isinstance(other, int | Polynomial):
            return NotImplemented
        terms = dict(self.terms)
        for monomial, factor in _terms(other).items():
            terms[monomial] = terms.get(monomial, 0) + factor
        return coefficient(terms)

    def __mul__(self, other: Coefficient) -> Coefficient:
        if not isinstance(other, int | Polynomial):
            return NotImplemented
        terms: dict[Monomial, int] = {}
        for first, a in self.terms.items():
            for second, b in _terms(other).items():
                both = _product(first, second)
                terms[both] = terms.get(both, 0) + a * b
        return coefficient(terms)

    def __neg__(self) -> Coefficient:
        return Polynomial({monomial: -factor for monomial, factor in self.terms.items()})

    def __sub__(self, other: Coefficient) -> Coefficient:
        return self + -other

    def __rsub__(self, other: int) -> Coefficient:
        return -self + other

    __radd__ = __add__
    __rmul__ = __mul__

    @cached_property
    def range(self) -> ValueRange:
        """What it may be."""
        total = ValueRange.exactly(0)
        for monomial, factor in self.terms.items():
            value = ValueRange.exactly(factor)
            for parameter, power in monomial:
                for _ in range(power):
                    value = value * parameter.range
            total = total + value
        return total

    def __str__(self) -> str:
        return " + ".join(sorted(_text(monomial, factor) for monomial, factor in self.terms.items()))


Coefficient = int | Polynomial


def parameter(name: Hashable, range: ValueRange = POSITIVE) -> Polynomial:
    """A named number as a coefficient; it is at least 1 where nothing else is said."""
    return Polynomial({frozenset({(Parameter(name, range), 1)}): 1})


def coefficient(terms: Mapping[Monomial, int]) -> Coefficient:
    """A sum of monomials, as a number where it is one."""
    kept = {monomial: factor for monomial, factor in terms.items() if factor}
    return kept.get(_ONE, 0) if kept.keys() <= {_ONE} else Polynomial(kept)


def content(value: Coefficient) -> int:
    """The largest number that divides a coefficient whatever its parameters are, 0 for 0."""
    return abs(value) if isinstance(value, int) else math.gcd(*value.terms.values())


def range_of(value: Coefficient) -> ValueRange:
    """What a coefficient may be."""
    return ValueRange.exactly(value) if isinstance(value, int) else value.range


def sign(value: Coefficient) -> int:
    """1 for a coefficient that is above 0, -1 for one below, 0 where that is not known."""
    known = range_of(value)
    if known.low is not None and known.low > 0:
        return 1
    return -1 if known.high is not None and known.high < 0 else 0


def quotient(value: Coefficient, by: Coefficient) -> Coefficient | None:
    """The exact quotient by a number or by one product of parameters, or of a coefficient by itself; else None."""
    if isinstance(by, int):
        if by == 0 or content(value) % by:
            return None
        return value // by if isinstance(value, int) else Polynomial({m: f // by for m, f in value.terms.items()})
    if value == 0 or value == by:
        return 1 if value else 0
    if isinstance(value, int) or len(by.terms) > 1:
        return None
    ((divisor, factor),) = by.terms.items()
    terms: dict[Monomial, int] = {}
    for monomial, own in value.terms.items():
        rest = _over(monomial, divisor)
        if rest is None or own % factor:
            return None
        terms[rest] = own // factor
    return coefficient(terms)


def substituted(value: Coefficient, numbers: Mapping[Hashable, Coefficient]) -> Coefficient:
    """A coefficient with other coefficients for its parameters, by name."""
    if isinstance(value, int):
        return value
    total: Coefficient = 0
    for monomial, factor in value.terms.items():
        product: Coefficient = factor
        for one, power in monomial:
            replaced = numbers[one.name] if one.name in numbers else Polynomial({frozenset({(one, 1)}): 1})
            for _ in range(power):
                product = product * replaced
        total = total + product
    return total


def parameters(value: Coefficient) -> frozenset[Parameter]:
    """What a coefficient depends on."""
    return frozenset() if isinstance(value, int) else frozenset(one for m in value.terms for one, _ in m)


def _terms(value: Coefficient) -> Mapping[Monomial, int]:
    return {_ONE: value} if isinstance(value, int) else value.terms


def _product(first: Monomial, second: Monomial) -> Monomial:
    powers = dict(first)
    for parameter, power in second:
        powers[parameter] = powers.get(parameter, 0) + power
    return frozenset(powers.items())


def _over(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for parameter, power in divisor:
        powers[parameter] = powers.get(parameter, 0) - power
    if any(power < 0 for power in powers.values()):
        return None
    return frozenset((parameter, power) for parameter, power in powers.items() if power)


def _text(monomial: Monomial, factor: int) -> str:
    names = sorted(f"{one.name}" if power == 1 else f"{one.name}^{power}" for one, power in monomial)
    return "·".join([str(factor), *names] if factor != 1 or not names else names)
