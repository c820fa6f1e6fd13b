"""Conditions on index expressions: masks of blocks, limits of loops, guards of pieces.

A comparison is one expression that is at least 0, is 0, or is not 0. What is no comparison keeps its name. Negations
go down to these two; a condition that ranges decide is `TRUE` or `FALSE`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from math import gcd
from typing import Literal

from kopt.cached_property import cached_property
from kopt.ir.atoms import Dims, Select
from kopt.ir.index_expr import IndexExpr, factors
from kopt.ir.polynomial import quotient
from kopt.ir.value_range import EMPTY, ValueRange

Relation = Literal["ge", "eq", "ne"]
_SIGNS = {"ge": ">=", "eq": "==", "ne": "!="}
#: Sums of more atoms than this are not compared with conditions for tighter ranges.
_HEAVY = 64


class Condition:
    """Base of the conditions."""

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        """The expressions that it compares."""
        return ()

    @property
    def along(self) -> Dims:
        """The dimensions of the block that it differs along."""
        return frozenset[int]().union(*(part.along for part in self.parts))

    @property
    def known(self) -> bool | None:
        """Whether it always holds, or never does; None where that is not known."""
        return None

    def negated(self) -> Condition:
        """The opposite."""
        raise NotImplementedError

    def range_of(self, expr: IndexExpr) -> ValueRange:
        """What an expression may be where the condition holds."""
        return expr.range


@dataclass(frozen=True)
class Truth(Condition):
    """A condition that always holds, or never does."""

    value: bool

    @property
    def known(self) -> bool:
        return self.value

    def negated(self) -> Condition:
        return FALSE if self.value else TRUE

    def range_of(self, expr: IndexExpr) -> ValueRange:
        return expr.range if self.value else EMPTY

    def __str__(self) -> str:
        return str(self.value).lower()


TRUE = Truth(True)
FALSE = Truth(False)


@dataclass(frozen=True)
class Named(Condition):
    """A condition of no known form, one for each lane along ``dims``; or that it does not hold."""

    name: Hashable
    dims: tuple[int, ...] = ()
    holds: bool = True

    @property
    def along(self) -> Dims:
        return frozenset(self.dims)

    def negated(self) -> Condition:
        return Named(self.name, self.dims, not self.holds)

    def __str__(self) -> str:
        name = getattr(self.name, "name_hint", None) or self.name
        return f"{'' if self.holds else 'not '}{name}" + (f"[{', '.join(map(str, self.dims))}]" if self.dims else "")


@dataclass(frozen=True)
class Comparison(Condition):
    """An expression that is at least 0 (``ge``), is 0 (``eq``) or is not (``ne``); `comparison` makes them."""

    relation: Relation
    expr: IndexExpr

    @property
    def parts(self) -> tuple[IndexExpr, ...]:
        return (self.expr,)

    def negated(self) -> Condition:
        if self.relation == "ge":  # what is not known of a condition is not known of its opposite
            opposite = -self.expr - 1
            return Comparison("ge", _divided(opposite, factors(opposite)))
        return Comparison("eq" if self.relation == "ne" else "ne", self.expr)

    def range_of(self, expr: IndexExpr) -> ValueRange:
        """Where ``e >= 0``, a number is at most itself and ``e``, and at least itself without ``e``; or a multiple."""
        own = expr.range
        if self.relation == "ne" or self.expr.weight + expr.weight > _HEAVY:
            return own
        for times in self._multiples(expr):
            part = self.expr * times
            more, less = (expr + part).range, (expr - part).range
            if self.relation == "eq":
                own = own.intersection(more).intersection(less)
            else:
                own = own.intersection(ValueRange(less.low, more.high))
        return own

    def _multiples(self, expr: IndexExpr) -> list[int]:
        """How often it is to be added for a term to vanish."""
        found = [1]
        for atom, own in self.expr.terms.items():
            factor = expr.terms.get(atom)
            if isinstance(factor, int) and isinstance(own, int) and own and factor % own == 0:
                found.append(abs(factor // own))
        return list(dict.fromkeys(times for times in found if times))

    def __str__(self) -> str:
        return f"{self.expr} {_SIGNS[self.relation]} 0"


@dataclass(frozen=True, eq=False)
class Junction(Condition):
    """That ``every`` one of some conditions holds, or any; `conjunction` and `disjunction` make them."""

    every: bool
    conditions: tuple[Condition, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Junction) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @cached_property
    def _key(self) -> tuple[bool, frozenset[Condition]]:
        return self.every, frozenset(self.conditions)

    @cached_property
    def parts(self) -> tuple[IndexExpr, ...]:
        return tuple(part for condition in self.conditions for part in condition.parts)

    @cached_property
    def along(self) -> Dims:
        return frozenset[int]().union(*(condition.along for condition in self.conditions))

    def negated(self) -> Condition:
        return _junction(not self.every, [condition.negated() for condition in self.conditions])

    def range_of(self, expr: IndexExpr) -> ValueRange:
        first, *others = (condition.range_of(expr) for condition in self.conditions)
        for one in others:
            first = first.intersection(one) if self.every else first.union(one)
        return first

    def __str__(self) -> str:
        return f"({(' and ' if self.every else ' or ').join(sorted(map(str, self.conditions)))})"


def comparison(relation: Relation, expr: IndexExpr) -> Condition:
    """Whether an expression is at least 0, is 0, or is not; what divides its terms is divided out.

    ``(c ? 1 : 0) != 0`` is ``c``.
    """
    if (known := _known(relation, expr.range)) is not None:
        return TRUE if known else FALSE
    if (chosen := _chosen(relation, expr)) is not None:
        return chosen
    divisor = factors(expr)
    if relation != "ge" and isinstance(expr.const, int) and expr.const % divisor:
        return FALSE if relation == "eq" else TRUE
    return Comparison(relation, _divided(expr, divisor))


def compare(name: str, first: IndexExpr, second: IndexExpr) -> Condition:
    """A comparison by its name: ``lt``, ``le``, ``gt``, ``ge``, ``eq``, ``ne``."""
    return _COMPARE[name](first, second)


def conjunction(conditions: Iterable[Condition]) -> Condition:
    """Whether every one holds."""
    return _junction(True, conditions)


def disjunction(conditions: Iterable[Condition]) -> Condition:
    """Whether any one holds."""
    return _junction(False, conditions)


def known_where(condition: Condition, where: Condition) -> bool | None:
    """Whether a condition holds wherever another does, or nowhere there; None where that is not known."""
    if not isinstance(condition, Comparison):
        return condition.known
    return _known(condition.relation, where.range_of(condition.expr))


_COMPARE: dict[str, Callable[[IndexExpr, IndexExpr], Condition]] = {
    "lt": lambda a, b: comparison("ge", b - a - 1),
    "le": lambda a, b: comparison("ge", b - a),
    "gt": lambda a, b: comparison("ge", a - b - 1),
    "ge": lambda a, b: comparison("ge", a - b),
    "eq": lambda a, b: comparison("eq", a - b),
    "ne": lambda a, b: comparison("ne", a - b),
}


def _junction(every: bool, conditions: Iterable[Condition]) -> Condition:
    kept: dict[Condition, None] = {}
    for condition in conditions:
        inner = condition.conditions if isinstance(condition, Junction) and condition.every == every else (condition,)
        kept.update(dict.fromkeys(one for one in inner if one != Truth(every)))
    if Truth(not every) in kept or any(one.negated() in kept for one in kept):
        return Truth(not every)
    if len(kept) < 2:
        return next(iter(kept), Truth(every))
    return Junction(every, tuple(kept))


def _chosen(relation: Relation, expr: IndexExpr) -> Condition | None:
    """The condition of the only term, a choice, where either of its arms decides the comparison."""
    terms = [*expr.terms.items()]
    if len(terms) != 1 or not isinstance(choice := terms[0][0], Select):
        return None
    then, otherwise = (
        _known(relation, (arm * terms[0][1] + expr.const).range) for arm in (choice.then, choice.otherwise)
    )
    if then is None or otherwise is None or then is otherwise:
        return None
    return choice.condition if then else choice.condition.negated()


def _known(relation: Relation, range: ValueRange) -> bool | None:
    if range.is_empty:
        return True
    if relation == "ge":
        low, high = range.low, range.high
        return True if low is not None and low >= 0 else False if high is not None and high < 0 else None
    is_zero = True if range.number == 0 else None if 0 in range else False
    return is_zero if relation == "eq" or is_zero is None else not is_zero


def _divided(expr: IndexExpr, divisor: int) -> IndexExpr:
    """A sum over what divides its terms, the number beside them rounded down."""
    const = expr.const
    if not isinstance(const, int):
        divisor = gcd(divisor, *const.terms.values())
    if divisor <= 1:
        return expr
    terms = {atom: quotient(factor, divisor) or 0 for atom, factor in expr.terms.items()}
    return IndexExpr(const // divisor if isinstance(const, int) else quotient(const, divisor) or 0, terms)
