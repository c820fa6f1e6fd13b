"""How far apart two numbers are that loops compute: by their linear forms over what cannot be taken apart."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from kopt.dialects import tile
from kopt.frontend.state import current

#: Ops that give equal results for equal operands, wherever they stand in a loop's body.
_FUNCTIONS = (arith.FloorDivSIOp, arith.RemSIOp, arith.MuliOp, tile.BeginOp, tile.EndOp, tile.IdOp)


@dataclass(frozen=True)
class Linear:
    """``constant`` and multiples of ``terms``; ``bases`` are values that compute the terms."""

    constant: int
    terms: dict[Hashable, int]
    bases: dict[Hashable, SSAValue]

    def plus(self, other: Linear, factor: int = 1) -> Linear:
        """The sum with a multiple of another."""
        terms = dict(self.terms)
        for key, count in other.terms.items():
            terms[key] = terms.get(key, 0) + factor * count
        kept = {key: count for key, count in terms.items() if count}
        return Linear(self.constant + factor * other.constant, kept, {**self.bases, **other.bases})

    @property
    def base(self) -> SSAValue | None:
        """The value that it is a multiple of, but for a constant."""
        return self.bases[next(iter(self.terms))] if len(self.terms) == 1 else None


_ZERO = Linear(0, {}, {})


def linear(value: SSAValue) -> Linear:
    """The linear form of an ``index``."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
        return Linear(owner.value.value.data, {}, {})
    if isinstance(owner, tile.BlockSizeOp):
        return Linear(_read_size(owner), {}, {})
    if isinstance(owner, arith.AddiOp | arith.SubiOp):
        return linear(owner.lhs).plus(linear(owner.rhs), 1 if isinstance(owner, arith.AddiOp) else -1)
    if isinstance(owner, arith.MuliOp):
        left, right = linear(owner.lhs), linear(owner.rhs)
        if not left.terms or not right.terms:
            one, number = (right, left.constant) if not left.terms else (left, right.constant)
            return _ZERO.plus(one, number)
    return Linear(0, {_key(value): 1}, {_key(value): value})


def _read_size(op: tile.BlockSizeOp) -> int:
    """The size that a block has now: what is made of it holds for this size alone."""
    type = tile.range_type(op.range)
    if (block := current().range_blocks.get(type.tag)) is not None:
        block.observed = block.read = True
    return type.size


def _key(value: SSAValue) -> Hashable:
    """What values that are computed alike have in common."""
    owner = value.owner
    if not isinstance(owner, Operation) or not isinstance(owner, _FUNCTIONS):
        return value
    return type(owner), tuple(map(_operand_key, owner.operands))


def _operand_key(value: SSAValue) -> Hashable:
    if isinstance(value.type, tile.RangeType):
        return value
    form = linear(value)
    return form.constant, frozenset(form.terms.items())


def distance(start: SSAValue, stop: SSAValue) -> int | None:
    """How much greater ``stop`` is, where that is one number."""
    found = linear(stop).plus(linear(start), -1)
    return None if found.terms else found.constant
