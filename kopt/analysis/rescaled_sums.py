"""Sums that are rescaled by a running maximum, as in online softmax: visits may have other elements.

    m' = max(m, max x)     c' = c · exp(m - m') + sum(exp(x - m') · h)
Pure. ``c · exp(m)`` is a plain sum over elements, so neither it nor ``m`` depends on how they are dealt out to visits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isfinite

from xdsl.ir import Operation, SSAValue

from kopt.analysis.combining import summed_tags
from kopt.analysis.powers import unmoved
from kopt.dialects.tile import (
    CastOp,
    DotOp,
    ElementwiseOp,
    ForOp,
    FullOp,
    ReduceOp,
    SelectOp,
    tag_of,
)

_POWERS = ("exp", "exp2")


def rescaled_sums(loop: ForOp) -> dict[SSAValue, list[Operation]]:
    """The carried values that are a running maximum or a sum rescaled by one, with the ops that combine their lanes."""
    return dict(_Loop(loop).found())


def masked_by_exponents(loop: ForOp) -> dict[SSAValue, set[tuple[Operation, int]]]:
    """The exponents of rescaled sums, with the operands that are 0, or ignored, where the exponent is ``-inf``.

    These are the maximum's, and the powers that are summed. The maximum itself is never ``-inf`` there: it begins at a
    number, or what is not ignored makes it one.
    """
    found: dict[SSAValue, set[tuple[Operation, int]]] = {}
    largest: set[SSAValue] = set()
    for op in (op for ops in rescaled_sums(loop).values() for op in ops):
        for number, value in enumerate(op.operands[:2] if isinstance(op, DotOp) else op.operands[:1]):
            if isinstance(op, ReduceOp) and op.kind.data == "max":
                largest.add(value)
                found.setdefault(value, set()).add((op, number))
            elif (exponent := _exponent(value)) is not None:
                found.setdefault(exponent, set()).add((op, number))
    return {exponent: places for exponent, places in found.items() if exponent in largest}


def _exponent(value: SSAValue) -> SSAValue | None:
    """``x`` of what is ``exp(x - m)``, cast or as it is."""
    while isinstance(value.owner, CastOp):
        value = value.owner.input
    power = value.owner
    if not isinstance(power, ElementwiseOp) or power.ROW.name not in _POWERS:
        return None
    difference = power.inputs[0].owner
    if not isinstance(difference, ElementwiseOp) or difference.ROW.name != "sub":
        return None
    return difference.inputs[0]


class _Loop:
    def __init__(self, loop: ForOp):
        self.loop, self.pairs = loop, list(zip(loop.carried, loop.yielded, strict=True))
        self._free: dict[SSAValue, bool] = {}

    def found(self) -> Iterator[tuple[SSAValue, list[Operation]]]:
        """Each maximum by which sums are rescaled, and these."""
        for largest, grown in self.pairs:
            reduced = self._maximum(largest, grown)
            sums = [(one, self._sum(one, new, largest, grown)) for one, new in self.pairs if one is not largest]
            if reduced is not None and any(op is not None for _, op in sums):
                yield largest, [reduced]
                yield from ((one, [op]) for one, op in sums if op is not None)

    def _maximum(self, carried: SSAValue, yielded: SSAValue) -> Operation | None:
        """The reduction that a running maximum takes up, of what no visit before has to do with."""
        for term in _others(yielded, "maximum", carried):
            op = unmoved(term).owner
            if isinstance(op, ReduceOp) and op.kind.data == "max" and self._sums(op) and self._is_free(op.input):
                return op if self._is_finite(carried, op) else None
        return None

    def _is_finite(self, carried: SSAValue, op: Operation) -> bool:
        """Whether no visit makes ``-inf - -inf``: the maximum begins at a number, or no lane is masked."""
        init = self.loop.inits[[one for one, _ in self.pairs].index(carried)].owner
        if isinstance(init, FullOp) and isfinite(init.number):
            return True
        seen, todo = set[Operation](), [op]
        while todo:
            one = todo.pop()
            if isinstance(one, SelectOp):
                return False
            seen.add(one)
            owners = [value.owner for value in one.operands]
            todo += [it for it in owners if isinstance(it, Operation) and it not in seen and self.loop.is_ancestor(it)]
        return True

    def _sum(self, carried: SSAValue, yielded: SSAValue, largest: SSAValue, grown: SSAValue) -> Operation | None:
        """The reduction or product that a rescaled sum takes up."""

        def kept(value: SSAValue) -> bool:
            return any(self._is_power(one, largest, grown) for one in _others(value, "mul", carried))

        op = yielded.owner
        if isinstance(op, DotOp) and op.accumulator is not None:
            return op if kept(op.accumulator) and self._is_sum(op, grown) else None
        if isinstance(op, ElementwiseOp) and op.ROW.name == "add":
            for so_far, term in (tuple(op.inputs), tuple(op.inputs)[::-1]):
                summed = unmoved(term).owner
                if kept(so_far) and isinstance(summed, Operation) and self._is_sum(summed, grown):
                    return summed
        return None

    def _is_power(self, value: SSAValue, exponent: SSAValue, grown: SSAValue) -> bool:
        """Whether a value is ``exp(exponent - grown)``."""
        return self._is_quotient(value, grown, lambda one: unmoved(one) is exponent)

    def _is_quotient(self, value: SSAValue, grown: SSAValue, may: Callable[[SSAValue], bool]) -> bool:
        power = unmoved(value).owner
        if not isinstance(power, ElementwiseOp) or power.ROW.name not in _POWERS:
            return False
        difference = unmoved(power.inputs[0]).owner
        if not isinstance(difference, ElementwiseOp) or difference.ROW.name != "sub":
            return False
        exponent, by = difference.inputs
        return unmoved(by) is grown and may(exponent)

    def _is_sum(self, op: Operation, grown: SSAValue) -> bool:
        """Whether an op sums ``exp(x - grown)``, maybe times what no visit before has to do with, over lanes."""
        if not self._sums(op):
            return False
        if isinstance(op, ReduceOp):
            return op.kind.data == "add" and self._is_scaled(op.input, grown)
        assert isinstance(op, DotOp)
        pairs = ((op.lhs, op.rhs), (op.rhs, op.lhs))
        return any(self._is_scaled(one, grown) and self._is_free(other) for one, other in pairs)

    def _is_scaled(self, value: SSAValue, grown: SSAValue) -> bool:
        op = unmoved(value).owner
        if isinstance(op, CastOp):
            return self._is_scaled(op.input, grown)
        if isinstance(op, SelectOp):
            zero = op.on_false.owner
            nothing = isinstance(zero, FullOp) and not zero.number
            return nothing and self._is_free(op.condition) and self._is_scaled(op.on_true, grown)
        if isinstance(op, ElementwiseOp) and op.ROW.name == "mul":
            pairs = (tuple(op.inputs), tuple(op.inputs)[::-1])
            return any(self._is_scaled(one, grown) and self._is_free(other) for one, other in pairs)
        return self._is_quotient(value, grown, self._is_free)

    def _sums(self, op: Operation) -> bool:
        return tag_of(self.loop.range) in summed_tags(op)

    def _is_free(self, value: SSAValue) -> bool:
        """Whether a value depends on no visit before, nor on which elements share its visit."""
        if value not in self._free:
            op = value.owner
            if not isinstance(op, Operation) or not self.loop.is_ancestor(op):
                self._free[value] = value not in self.loop.carried
            else:
                self._free[value] = not self._sums(op) and not op.regions and all(map(self._is_free, op.operands))
        return self._free[value]


def _others(value: SSAValue, name: str, one: SSAValue) -> list[SSAValue]:
    """What an elementwise op of a name joins with a value; nothing where it is not made so."""
    op = value.owner
    if not isinstance(op, ElementwiseOp) or op.ROW.name != name or one not in op.inputs:
        return []
    left, right = op.inputs
    return [right] if left is one else [left]
