"""Index values computed again as they are for other blocks of some ranges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.rematerialisation import Rematerialisation
from kopt.dialects.tile import IdOp, ShiftOp


@dataclass(frozen=True)
class Other:
    """Another block of a range: a range that begins there, and the block's number."""

    range: SSAValue
    number: SSAValue


def rematerialise(
    scope: Rematerialisation,
    values: Sequence[Any],
    others: Mapping[SSAValue, Other],
    add: Callable[[Operation], SSAValue],
    prefix: str,
) -> list[Any]:
    """Values and other entries of index lists, where the ranges have ``others`` as blocks.

    %at = tile.shift %k by %n
    becomes
    %next_at = tile.shift %next by %n
    """
    known = {range: other.range for range, other in others.items()}

    def again(value: SSAValue) -> SSAValue:
        op = value.owner
        if value in known or not scope.differs(value) or isinstance(op, Block):
            return known.get(value, value)
        if isinstance(op, IdOp) and op.range in others:
            return others[op.range].number
        operands = [again(operand) for operand in op.operands]
        copy = add(_with_operands(op, operands))
        copy.name_hint = f"{prefix}_{value.name_hint}" if value.name_hint else None
        return known.setdefault(value, copy)

    return [again(value) if isinstance(value, SSAValue) else value for value in values]


def _with_operands(op: Operation, operands: Sequence[SSAValue]) -> Operation:
    if isinstance(op, ShiftOp):
        return ShiftOp(*operands)  # which has the tag of the range that is shifted
    return op.clone(dict(zip(op.operands, operands, strict=True)))
