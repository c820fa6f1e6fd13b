"""Values as powers of a running maximum or minimum: ``g * exp(rate * t)``, recognised by algebra. Pure.

exp(2 * (x - t))                 the power -2 of t
sum(f * exp(x - t)), f @ exp(x - t)    the power -1, where f does not depend on t
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isclose, isinf, log
from typing import Any

from xdsl.ir import Operation, SSAValue

from kopt.analysis.bottom_up import bottom_up
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
MOVING = BroadcastOp | ReshapeOp | TransposeOp
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


@bottom_up()
def depends(value: SSAValue, other: SSAValue) -> bool:
    """Whether a value is computed from another; loops are not looked into."""
    return value is other or any(depends(operand, other) for operand in _operands(value))


def _operands(value: SSAValue) -> list[SSAValue]:
    return list(value.owner.operands) if isinstance(value.owner, Operation) else []


class Powers:
    """Values as powers of one running maximum or minimum, ``top``.

    With ``bound``, the reduction that it is of, only those count whose exponents are of the very lanes that this
    combines: no power is larger than 1 then.
    """

    def __init__(self, top: SSAValue, bound: ReduceOp | None = None):
        self.top, self.bound = top, bound
        self._known: dict[SSAValue, Power | None] = {}

    def of(self, value: SSAValue) -> Power | None:
        """A value as ``g * exp(rate * shift)``; None where it depends on the maximum in any other way."""
        if value not in self._known:
            rule = _POWERS.get(type(value.owner))
            found = Power() if self.is_free(value) else None if rule is None else rule(self, value.owner)
            self._known[value] = found
        return self._known[value]

    def is_free(self, value: SSAValue) -> bool:
        """Whether a value does not depend on the maximum."""
        return not depends(value, self.top)

    def product(self, op: DotOp) -> Power | None:
        """A product of matrices, one of which is free of the maximum; without what it is added to."""
        left, right = self.of(op.lhs), self.of(op.rhs)
        if left is None or right is None or left.rate and right.rate:
            return None
        last = tile_type(op.lhs).rank - 1
        return _kept(left, [*range(last), -1]) if left.rate else _kept(right, [*range(last - 1), -1, last])

    def exponential(self, op: Any, base: float) -> Power | None:
        """``exp(k * (x - t))``."""
        others = dict(terms(op.inputs[0]))
        found = [key for key in others if key is not None and not self.is_free(key[0])]
        if len(found) != 1:
            return None
        ((shift, dims),) = [key for key in found if key is not None]
        rate = others.pop(found[0])
        if not is_shift(shift, self.top) or self.bound is not None and not self._is_bounded(op, rate, dims, others):
            return None
        return Power(rate * base, shift, dims)

    def _is_bounded(self, op: Any, rate: float, dims: tuple[int, ...], others: Terms) -> bool:
        """Whether the exponent is of what the maximum is of, and falls as that grows."""
        top = self.bound
        assert top is not None
        kept = tuple(n for n in wide_dims(top.input) if n not in top.dimensions)
        falls = rate < 0 if top.kind.data == "max" else rate > 0
        if not falls or dims != kept or tile_type(op.inputs[0]).dims != tile_type(top.input).dims:
            return False
        wanted = {key: -rate * number for key, number in terms(top.input).items()}
        return others.keys() == wanted.keys() and all(isclose(others[k], wanted[k], rel_tol=1e-5) for k in others)


def is_shift(value: SSAValue, top: SSAValue) -> bool:
    """Whether a value is the maximum, or that but for a number where it is infinite."""
    op = value.owner
    if not isinstance(op, SelectOp):
        return value is top
    number = unmoved(op.on_true).owner
    return _is(op.on_false, top) and isinstance(number, FullOp) and is_infinite(op.condition, top)


def is_infinite(condition: SSAValue, top: SSAValue) -> bool:
    """Whether a condition is that the maximum is infinite: ``isinf(m)``, ``abs(m) == inf``, ``m == -inf``."""
    op = unmoved(condition).owner
    if isinstance(op, _E["isinf"]):
        return _is(op.operands[0], top)
    if not isinstance(op, _E["eq"]):
        return False
    left, right = op.operands[0], unmoved(op.operands[1]).owner
    if isinstance(left.owner, _E["abs"]):
        left = left.owner.operands[0]
    return _is(left, top) and isinstance(right, FullOp) and isinf(right.number)


def _is(value: SSAValue, top: SSAValue) -> bool:
    """Whether a value is another one, but for dimensions of one lane."""
    return terms(value) == {(top, tuple(wide_dims(value))): 1.0} and len(wide_dims(value)) == len(wide_dims(top))


def unmoved(value: SSAValue) -> SSAValue:
    """The value that has given its lanes other places only."""
    while isinstance(value.owner, MOVING):
        value = value.owner.input
    return value


# Sums.


@bottom_up()
def terms(value: SSAValue) -> Terms:
    op = value.owner
    if isinstance(op, FullOp):
        return {None: float(op.number)} if op.number else {}
    if isinstance(op, _E["add"] | _E["sub"]):
        return _plus(terms(op.operands[0]), terms(op.operands[1]), -1 if isinstance(op, _E["sub"]) else 1)
    if isinstance(op, _E["neg"]):
        return _scaled(terms(op.operands[0]), -1)
    if isinstance(op, _E["mul"]):
        return _product(terms(op.operands[0]), terms(op.operands[1])) or _own(value)
    if isinstance(op, MOVING) and (moved := places(op)) is not None:
        return {key and (key[0], tuple(moved[dim] for dim in key[1])): n for key, n in terms(op.input).items()}
    return _own(value)


def _own(value: SSAValue) -> Terms:
    return {(value, tuple(wide_dims(value))): 1.0}


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


def wide_dims(value: SSAValue) -> list[int]:
    """The dimensions but plain ones of one lane."""
    return [n for n, dim in enumerate(tile_type(value).dims.data) if dim != DimAttr(1)]


# Powers.


def _same(powers: Powers, op: Any) -> Power | None:
    return powers.of(op.operands[0])


def _product_of(powers: Powers, op: Any) -> Power | None:
    left, right = (powers.of(operand) for operand in op.operands)
    return None if left is None or right is None else left.times(right)


def _quotient(powers: Powers, op: Any) -> Power | None:
    """By what does not depend on the maximum: others grow."""
    return powers.of(op.operands[0]) if powers.of(op.operands[1]) == Power() else None


def _sum(powers: Powers, op: Any) -> Power | None:
    """Both terms by the same power, or one of them 0 in all lanes."""
    found = [powers.of(operand) for operand in op.operands[-2:] if not is_zero(operand)]
    return found[0] if found and all(term == found[0] for term in found) else None


def _select(powers: Powers, op: SelectOp) -> Power | None:
    return _sum(powers, op) if powers.of(op.condition) == Power() else None


def is_zero(value: SSAValue) -> bool:
    """Whether all lanes are 0."""
    found = unmoved(value).owner
    return isinstance(found, FullOp) and not found.number


def _moved(powers: Powers, op: Any) -> Power | None:
    found, moved = powers.of(op.input), places(op)
    if found is None or moved is None:
        return None
    return Power(found.rate, found.shift, tuple(moved[dim] for dim in found.dims))


def _cast(powers: Powers, op: CastOp) -> Power | None:
    """Rounding to floats of fewer bits is by the size of a number, whatever it is multiplied by."""
    return powers.of(op.input) if is_float(tile_type(op.result).element_type) else None


def _summed(powers: Powers, op: ReduceOp) -> Power | None:
    """A sum over lanes that have one shift."""
    found = powers.of(op.input) if op.kind.data == "add" and is_float(tile_type(op.input).element_type) else None
    return found and _kept(found, [n for n in range(tile_type(op.input).rank) if n not in op.dimensions])


def _multiplied(powers: Powers, op: DotOp) -> Power | None:
    return powers.product(op) if op.accumulator is None else None


def _kept(found: Power, dims: Sequence[int]) -> Power | None:
    """A power by what stays of its dimensions."""
    if not set(found.dims) <= set(dims):
        return None
    return Power(found.rate, found.shift, tuple(dims.index(dim) for dim in found.dims))


_POWERS: dict[type, Callable[[Powers, Any], Power | None]] = {
    _E["exp"]: lambda powers, op: powers.exponential(op, 1.0),
    _E["exp2"]: lambda powers, op: powers.exponential(op, log(2)),
    _E["mul"]: _product_of,
    _E["div"]: _quotient,
    **dict.fromkeys([_E["neg"], _E["abs"]], _same),
    **dict.fromkeys([_E["add"], _E["sub"]], _sum),
    **dict.fromkeys([BroadcastOp, ReshapeOp, TransposeOp], _moved),
    SelectOp: _select,
    CastOp: _cast,
    ReduceOp: _summed,
    DotOp: _multiplied,
}
