"""How partial results of a loop are combined, derived from what its visits do to each carried value. Pure.

| visit | combiner |
|---|---|
| ``a = a + v``, ``max(a, v)``, ``a * v``, …, of a ``v`` that no carried value is in | `Combination` |
| ``n = max(m, v)``; ``a = a * exp(k * (n - m)) + g``, of a ``g`` with the power ``k`` of ``n`` | `Rescaled` by ``m`` |
| ``b, p = (v, q) if v > b else (b, p)`` | `Combination`, and `Placed` by ``b`` |

The visits of such a loop may be dealt out: parts that follow one another give partial results in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isclose, log

from xdsl.ir import Operation, SSAValue

from kopt.analysis.powers import MOVING, Power, Powers, is_infinite, is_shift, is_zero, terms, unmoved
from kopt.dialects.tile import (
    COMBINING_OPS,
    ELEMENTWISE,
    CastOp,
    DotOp,
    ElementwiseOp,
    ForOp,
    FullOp,
    SelectOp,
    TileType,
    is_float,
    neutral,
    tile_type,
)
from kopt.ir.ssa_rules import places
from kopt.walk import walk

_E = ELEMENTWISE
#: The elementwise ops that combine, and the kind of reduction that they are.
KINDS = {_E[op]: kind for kind, op in COMBINING_OPS.items()}
_BASES = {_E["exp"]: 1.0, _E["exp2"]: log(2)}
_BETTER = {_E["gt"]: "max", _E["lt"]: "min"}


class NotAReduction(Exception):
    """Why the visits of a loop cannot be dealt out."""


@dataclass(frozen=True)
class Combination:
    """Partial results are combined by a kind of reduction."""

    kind: str


@dataclass(frozen=True)
class Rescaled:
    """Partial sums are added, each times ``exp(rate * (n - m))``.

    ``m`` is the carried value number ``top`` of the part, ``n`` that of all parts. ``dims`` are the dimensions of the
    sum that those of ``m`` stand along.
    """

    top: int
    rate: float
    dims: tuple[int, ...]


@dataclass(frozen=True)
class Placed:
    """It is that of the first part whose carried value number ``best`` is the best."""

    best: int


Combiner = Combination | Rescaled | Placed


def combiners(loop: ForOp) -> tuple[Combiner, ...]:
    """The combiner of each carried value. Raises `NotAReduction`."""
    return tuple(_Step(loop).combiner(number) for number in range(len(loop.inits)))


class _Step:
    """A visit to a loop: what it makes of the carried values."""

    def __init__(self, loop: ForOp):
        self.loop = loop
        self.carried, self.yielded = list(loop.carried), list(loop.yielded)

    def combiner(self, number: int) -> Combiner:
        """How partial results of one carried value are combined."""
        used: list[int] = []
        for rule in (self._combined, self._rescaled, self._best, self._placed):
            if (found := rule(number, used)) is not None:
                return found
        if used:
            raise NotAReduction(f"{self._name(used[0])} is used before the loop is over")
        raise NotAReduction(f"{self._name(number)} is not a plain sum, maximum or minimum over the visits")

    def _name(self, number: int) -> str:
        hint = self.carried[number].name_hint
        return f"'{hint}'" if hint else f"carried value {number}"

    def uses(self, value: SSAValue) -> set[int]:
        """The numbers of the carried values that a value depends on."""
        carried = {value: number for number, value in enumerate(self.carried)}
        return {carried[found] for found in _made_from(value, self.loop) if found in carried}

    # Plain combinations.

    def _combined(self, number: int, used: list[int]) -> Combination | None:
        carried, op = self.carried[number], self.yielded[number].owner
        if not isinstance(carried.type, TileType) or not isinstance(op, Operation):
            return None
        if isinstance(op, DotOp) and op.accumulator is carried:
            kind, others = "add", [op.lhs, op.rhs]
        elif isinstance(op, ElementwiseOp) and type(op) in KINDS and list(op.operands).count(carried) == 1:
            kind, others = KINDS[type(op)], [value for value in op.operands if value is not carried]
        else:
            return None
        used += sorted(set[int]().union(*map(self.uses, others)))
        return None if used else Combination(kind)

    # Sums that are rescaled.

    def _rescaled(self, number: int, used: list[int]) -> Rescaled | None:
        """``a * exp(rate * (n - m)) + g``."""
        for kept, added in _sums(self.yielded[number]):
            for top in sorted(self.uses(kept) - {number}):
                rescaling = _Rescaling(self, number, top)
                found = rescaling.of(kept) if self._is_top(top) else None
                if found is not None and rescaling.adds(added, found):
                    return Rescaled(top, found.rate, found.dims)
        return None

    def _is_top(self, number: int) -> bool:
        """Whether a carried value is the maximum or minimum so far."""
        found = self._combined(number, [])
        return found is not None and found.kind in ("max", "min")

    # The place of the best.

    def _best(self, number: int, used: list[int]) -> Combination | None:
        better = self._better(number)
        return None if better is None else Combination(better)

    def _better(self, number: int) -> str | None:
        """``v if v > b else b``: the kind of what it is the best of."""
        op = self.yielded[number].owner
        if not isinstance(op, SelectOp) or op.on_false is not self.carried[number] or self.uses(op.on_true):
            return None
        return _kind_of_better(op.condition, op.on_true, self.carried[number])

    def _placed(self, number: int, used: list[int]) -> Placed | None:
        op = self.yielded[number].owner
        if not isinstance(op, SelectOp) or op.on_false is not self.carried[number] or self.uses(op.on_true):
            return None
        for best in self.uses(op.condition) - {number}:
            other = self.yielded[best].owner
            better = self._better(best)
            if (
                better
                and isinstance(other, SelectOp)
                and other.condition is op.condition
                and self._is_fresh(best, better)
            ):
                return Placed(best)
        return None

    def _is_fresh(self, number: int, kind: str) -> bool:
        """Whether a carried value starts as what any lane is better than, or as good."""
        start = self.loop.inits[number].owner
        return isinstance(start, FullOp) and start.number == neutral(kind, tile_type(start.result).element_type)


class _StepPowers(Powers):
    """Values of a visit: what depends on carried values in any other way than by the maximum is no power."""

    def __init__(self, step: _Step, top: int):
        super().__init__(step.yielded[top])
        self.step = step

    def of(self, value: SSAValue) -> Power | None:
        return None if value in self.step.carried else super().of(value)

    def is_free(self, value: SSAValue) -> bool:
        made = _made_from(value, self.step.loop)
        return self.top not in made and made.isdisjoint(self.step.carried)


class _Rescaling:
    """What a visit makes of one carried sum: times ``exp(rate * (n - m))`` of the new maximum and the old one."""

    def __init__(self, step: _Step, number: int, top: int):
        self.sum, self.powers = step.carried[number], _StepPowers(step, top)
        self.old, self.new = step.carried[top], step.yielded[top]

    def of(self, value: SSAValue) -> Power | None:
        """The rescaled sum, as a power of the new maximum; None where it is none."""
        op = value.owner
        if isinstance(op, SelectOp):
            return self.of(op.on_false) if is_zero(op.on_true) and self._is_edge(op.condition) else None
        if isinstance(op, _E["mul"]):
            left, right = op.operands
            return self._factor(right) if left is self.sum else self._factor(left) if right is self.sum else None
        return None

    def adds(self, value: SSAValue | DotOp, kept: Power) -> bool:
        """Whether what a visit adds has the same power."""
        found = self.powers.product(value) if isinstance(value, DotOp) else self.powers.of(value)
        return found is not None and isclose(found.rate, kept.rate, rel_tol=1e-5) and found.dims == kept.dims

    def _factor(self, value: SSAValue) -> Power | None:
        """``exp(rate * (n - m))``, or 1 where that is no number or 1."""
        op = value.owner
        if isinstance(op, tuple(_BASES)):
            return self._difference(op.inputs[0], _BASES[type(op)])  # pyright: ignore
        if isinstance(op, SelectOp):
            one = unmoved(op.on_true).owner
            is_one = isinstance(one, FullOp) and one.number == 1
            return self._factor(op.on_false) if is_one and self._is_edge(op.condition) else None
        if isinstance(op, CastOp):
            return self._factor(op.input) if is_float(tile_type(op.input).element_type) else None
        if isinstance(op, MOVING) and (moved := places(op)) is not None and (found := self._factor(op.input)):
            return Power(found.rate, found.shift, tuple(moved[dim] for dim in found.dims))
        return None

    def _difference(self, value: SSAValue, base: float) -> Power | None:
        """``rate * (n - m)``."""
        rates: dict[SSAValue, float] = {}
        places: set[tuple[int, ...]] = set()
        for key, rate in terms(value).items():
            top = next((top for top in (self.old, self.new) if key is not None and is_shift(key[0], top)), None)
            if key is None or top is None:
                return None
            rates[top], places = rate, places | {key[1]}
        if len(places) != 1 or not isclose(rates.get(self.new, 0), -rates.get(self.old, 0)):
            return None
        return Power(rates[self.new] * base, self.new, *places)

    def _is_edge(self, condition: SSAValue) -> bool:
        """Whether a condition holds only where the maximum stays, or is infinite before or after a visit."""
        op = unmoved(condition).owner
        if isinstance(op, _E["or"]):
            return all(map(self._is_edge, op.operands))
        if isinstance(op, _E["and"]):
            return any(map(self._is_edge, op.operands))
        if isinstance(op, _E["eq"]) and {unmoved(side) for side in op.operands} == {self.old, self.new}:
            return True
        return any(is_infinite(condition, top) for top in (self.old, self.new))


def _sums(value: SSAValue) -> Iterator[tuple[SSAValue, SSAValue | DotOp]]:
    """What may be kept of a sum, and what is added to it then."""
    op = value.owner
    if isinstance(op, _E["add"]):
        yield op.operands[0], op.operands[1]
        yield op.operands[1], op.operands[0]
    elif isinstance(op, DotOp) and op.accumulator is not None:
        yield op.accumulator, op


def _kind_of_better(condition: SSAValue, value: SSAValue, best: SSAValue) -> str | None:
    """``v > b``; of floats or where ``v`` is the first NaN."""
    op = condition.owner
    if isinstance(op, _E["or"]):
        number, nan = op.operands
        return _kind_of_better(number, value, best) if _is_first_nan(nan, value, best) else None
    return _BETTER.get(type(op)) if isinstance(op, ElementwiseOp) and [*op.operands] == [value, best] else None


def _is_first_nan(condition: SSAValue, value: SSAValue, best: SSAValue) -> bool:
    """``isnan(v) and not isnan(b)``."""
    op = condition.owner
    if not isinstance(op, _E["and"]):
        return False
    new, not_old = (side.owner for side in op.operands)
    old = not_old.operands[0].owner if isinstance(not_old, _E["not"]) else None
    return all(isinstance(nan, _E["isnan"]) and nan.operands[0] is of for nan, of in ((new, value), (old, best)))


def _made_from(value: SSAValue, loop: ForOp) -> set[SSAValue]:
    """A value, and all that it is made from inside of a loop, by way of inner loops and branches too."""
    found, todo = {value}, [value]
    while todo:
        owner = todo.pop().owner
        if isinstance(owner, Operation) and loop.is_ancestor(owner):
            new = {operand for op in walk(owner) for operand in op.operands} - found
            found |= new
            todo += new
    return found
