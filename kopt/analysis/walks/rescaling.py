"""Sums that are mended as a running maximum grows, the online softmax: recognised by algebra. Pure.

A sum of ``f * exp(k * (x - t))``, where ``t`` is the maximum of ``x`` and ``f`` does not depend on it, is proportional
to ``exp(-k * t)``. So a sum over some of the lanes, made with their maximum, is that with a larger one times
``exp(k * (old - new))``. No term of it is larger than its ``f`` on the way. Minima are alike, with negative ``k``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isclose, isinf, log
from typing import Any

from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.analysis.walks.walkable import Sink
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    DimAttr,
    DotOp,
    FullOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TransposeOp,
    is_float,
    tile_type,
)
from kopt.ir.ssa_rules import places

_E = ELEMENTWISE
_MOVING = BroadcastOp | ReshapeOp | TransposeOp
#: A value, and the dimensions that its own stand along.
Placed = tuple[SSAValue, tuple[int, ...]]
#: A float tile as a sum: ``Σ coefficient · atom``, each along some dimensions; what is constant is under None.
Terms = dict[Placed | None, float]


@dataclass(frozen=True)
class Power:
    """That a value is ``g * exp(rate * shift)``: ``g`` does not depend on the maximum. 0 where nothing does.

    ``dims`` are the dimensions of the value that those of the shift stand along, dimensions of one lane left out.
    """

    rate: float = 0.0
    shift: SSAValue | None = None
    dims: tuple[int, ...] = ()

    def times(self, other: Power) -> Power | None:
        """The product with another value."""
        if not self.rate or not other.rate:
            return self if self.rate else other
        alike = (self.shift, self.dims) == (other.shift, other.dims)
        return Power(self.rate + other.rate, self.shift, self.dims) if alike else None


@dataclass(frozen=True)
class Rescaling:
    """How a sum is mended: by ``exp(rate * (new - old))`` of what ``shift`` is for the new and the old ``top``.

    The shift is the maximum or minimum ``top`` itself; or 0 where that is infinite, if ``guarded``. ``dims`` are the
    dimensions of the sum's result that those of the shift stand along.
    """

    top: ReduceOp
    shift: SSAValue
    rate: float
    dims: tuple[int, ...]

    @property
    def guarded(self) -> bool:
        """Whether the shift is a number where the top is infinite."""
        return isinstance(self.shift.owner, SelectOp)


def rescaling(sink: Sink, top: ReduceOp) -> Rescaling | None:
    """How a reduction is mended while a maximum or minimum that it depends on changes; None where it is not."""
    op = sink.op
    if isinstance(op, ReduceOp) and op.kind.data == "add" and is_float(tile_type(op.input).element_type):
        found, kept = _Powers(top).of(op.input), [n for n in range(tile_type(op.input).rank) if n not in op.dimensions]
    elif isinstance(op, DotOp) and op.accumulator is None:
        left, right = _Powers(top).of(op.lhs), _Powers(top).of(op.rhs)
        found = None if left is None or right is None or left.rate and right.rate else left if left.rate else right
        last = tile_type(op.lhs).rank - 1
        kept = [*range(last), -1] if left is found else [*range(last - 1), -1, last]
    else:
        return None
    if found is None or found.shift is None or not found.rate or not set(found.dims) <= set(kept):
        return None
    return Rescaling(top, found.shift, found.rate, tuple(kept.index(dim) for dim in found.dims))


@bottom_up()
def depends(value: SSAValue, other: SSAValue) -> bool:
    """Whether a value is computed from another; loops are not looked into."""
    return value is other or any(depends(operand, other) for operand in _operands(value))


def _operands(value: SSAValue) -> list[SSAValue]:
    return list(value.owner.operands) if isinstance(value.owner, Operation) else []


class _Powers:
    """Values as powers of one running maximum or minimum."""

    def __init__(self, top: ReduceOp):
        self.top = top
        self._known: dict[SSAValue, Power | None] = {}

    def of(self, value: SSAValue) -> Power | None:
        """A value as ``g * exp(rate * shift)``; None where it depends on the maximum in any other way."""
        if value not in self._known:
            free = not depends(value, self.top.result)
            rule = _POWERS.get(type(value.owner))
            self._known[value] = Power() if free else None if rule is None else rule(self, value.owner)
        return self._known[value]

    def exponential(self, op: Any, base: float) -> Power | None:
        """``exp(k * (x - t))``, of the very values that the maximum is of."""
        argument = op.inputs[0]
        terms, bounded = dict(_terms(argument)), _terms(self.top.input)
        found = [key for key in terms if key is not None and depends(key[0], self.top.result)]
        if len(found) != 1 or tile_type(argument).dims != tile_type(self.top.input).dims:
            return None
        ((shift, dims),) = [key for key in found if key is not None]
        rate = terms.pop(found[0])
        kept = tuple(n for n in _wide(self.top.input) if n not in self.top.dimensions)
        falls = rate < 0 if self.top.kind.data == "max" else rate > 0
        if not falls or dims != kept or not _is_shift(shift, self.top.result):
            return None
        wanted = {key: -rate * number for key, number in bounded.items()}
        alike = terms.keys() == wanted.keys() and all(isclose(terms[k], wanted[k], rel_tol=1e-5) for k in terms)
        return Power(rate * base, shift, dims) if alike else None


def _is_shift(value: SSAValue, top: SSAValue) -> bool:
    """Whether a value is the maximum, or that but for a number where it is infinite."""
    op = value.owner
    if not isinstance(op, SelectOp):
        return value is top
    number = _unmoved(op.on_true).owner
    return _is(op.on_false, top) and isinstance(number, FullOp) and _is_infinite(op.condition, top)


def _is_infinite(condition: SSAValue, top: SSAValue) -> bool:
    """Whether a condition is that the maximum is infinite: ``isinf(m)``, ``abs(m) == inf``, ``m == -inf``."""
    op = _unmoved(condition).owner
    if isinstance(op, _E["isinf"]):
        return _is(op.operands[0], top)
    if not isinstance(op, _E["eq"]):
        return False
    left, right = op.operands[0], _unmoved(op.operands[1]).owner
    if isinstance(left.owner, _E["abs"]):
        left = left.owner.operands[0]
    return _is(left, top) and isinstance(right, FullOp) and isinf(right.number)


def _is(value: SSAValue, top: SSAValue) -> bool:
    """Whether a value is another one, but for dimensions of one lane."""
    return _terms(value) == {(top, tuple(_wide(value))): 1.0} and len(_wide(value)) == len(_wide(top))


def _unmoved(value: SSAValue) -> SSAValue:
    """The value that has given its lanes other places only."""
    while isinstance(value.owner, _MOVING):
        value = value.owner.input
    return value


# Sums.


@bottom_up()
def _terms(value: SSAValue) -> Terms:
    op = value.owner
    if isinstance(op, FullOp):
        return {None: float(op.number)} if op.number else {}
    if isinstance(op, _E["add"] | _E["sub"]):
        return _plus(_terms(op.operands[0]), _terms(op.operands[1]), -1 if isinstance(op, _E["sub"]) else 1)
    if isinstance(op, _E["neg"]):
        return _scaled(_terms(op.operands[0]), -1)
    if isinstance(op, _E["mul"]):
        return _product(_terms(op.operands[0]), _terms(op.operands[1])) or _own(value)
    if isinstance(op, _MOVING) and (moved := places(op)) is not None:
        return {key and (key[0], tuple(moved[dim] for dim in key[1])): n for key, n in _terms(op.input).items()}
    return _own(value)


def _own(value: SSAValue) -> Terms:
    return {(value, tuple(_wide(value))): 1.0}


def _plus(left: Mapping[Placed | None, float], right: Mapping[Placed | None, float], sign: int) -> Terms:
    sums = {key: left.get(key, 0.0) + sign * right.get(key, 0.0) for key in {**left, **right}}
    return {key: number for key, number in sums.items() if number}


def _scaled(terms: Mapping[Placed | None, float], factor: float) -> Terms:
    return {key: number * factor for key, number in terms.items()} if factor else {}


def _product(left: Terms, right: Terms) -> Terms | None:
    """The product with a number."""
    for terms, other in ((left, right), (right, left)):
        if terms.keys() == {None}:
            return _scaled(other, terms[None])
    return None


def _wide(value: SSAValue) -> list[int]:
    """The dimensions but plain ones of one lane."""
    return [n for n, dim in enumerate(tile_type(value).dims.data) if dim != DimAttr(1)]


# Powers.


def _same(powers: _Powers, op: Any) -> Power | None:
    return powers.of(op.operands[0])


def _product_of(powers: _Powers, op: Any) -> Power | None:
    left, right = (powers.of(operand) for operand in op.operands)
    return None if left is None or right is None else left.times(right)


def _quotient(powers: _Powers, op: Any) -> Power | None:
    """By what does not depend on the maximum: others grow."""
    return powers.of(op.operands[0]) if powers.of(op.operands[1]) == Power() else None


def _sum(powers: _Powers, op: Any) -> Power | None:
    """Both terms by the same power, or one of them 0 in all lanes."""
    terms = [powers.of(operand) for operand in op.operands[-2:] if not _is_zero(operand)]
    return terms[0] if terms and all(term == terms[0] for term in terms) else None


def _select(powers: _Powers, op: SelectOp) -> Power | None:
    return _sum(powers, op) if powers.of(op.condition) == Power() else None


def _is_zero(value: SSAValue) -> bool:
    found = _unmoved(value).owner
    return isinstance(found, FullOp) and not found.number


def _moved(powers: _Powers, op: Any) -> Power | None:
    found, moved = powers.of(op.input), places(op)
    if found is None or moved is None:
        return None
    return Power(found.rate, found.shift, tuple(moved[dim] for dim in found.dims))


def _cast(powers: _Powers, op: CastOp) -> Power | None:
    """Rounding to floats of fewer bits is by the size of a number, whatever it is multiplied by."""
    return powers.of(op.input) if is_float(tile_type(op.result).element_type) else None


_POWERS: dict[type, Callable[[_Powers, Any], Power | None]] = {
    _E["exp"]: lambda powers, op: powers.exponential(op, 1.0),
    _E["exp2"]: lambda powers, op: powers.exponential(op, log(2)),
    _E["mul"]: _product_of,
    _E["div"]: _quotient,
    **dict.fromkeys([_E["neg"], _E["abs"]], _same),
    **dict.fromkeys([_E["add"], _E["sub"]], _sum),
    **dict.fromkeys([BroadcastOp, ReshapeOp, TransposeOp], _moved),
    SelectOp: _select,
    CastOp: _cast,
}
