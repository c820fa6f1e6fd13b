"""Index values as they are for other blocks of some ranges: at a loop's next visit, in the grid's next cell."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.effects import is_side_effect_free
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import CountOp, EndOp, GetOp, IdOp, RefType, ShiftOp


@dataclass(frozen=True)
class Other:
    """Another block of a range: a range that begins there, and the block's number."""

    range: SSAValue
    number: SSAValue


class Elsewhere:
    """Computes values again as they are where some ``ranges`` have other blocks, outside of the block ``home``.

    What depends on none of the ranges, and is known outside of ``home``, is shared.
    """

    def __init__(self, ranges: set[SSAValue], home: Block | None = None):
        self.ranges, self.home = ranges, home

    def can(self, value: object) -> bool:
        """Whether a value, or any other entry of an index list, can be computed again."""
        if not isinstance(value, SSAValue) or not self._differs(value):
            return True
        op = value.owner
        if isinstance(op, Block):
            return value in self.ranges
        return _repeats(op) and all(map(self.can, op.operands))

    def shared(self, value: object) -> Iterator[SSAValue]:
        """The values that are needed to compute a value again."""
        if not isinstance(value, SSAValue) or value in self.ranges:
            return
        op = value.owner
        if not self._differs(value):
            yield value
        elif isinstance(op, Operation):
            for operand in op.operands:
                yield from self.shared(operand)

    def compute(
        self, values: list, others: Mapping[SSAValue, Other], add: Callable[[Operation], SSAValue], prefix: str
    ) -> list:
        """Values and other entries of index lists, where the ranges have ``others`` as blocks."""
        known = {range: other.range for range, other in others.items()}

        def again(value: SSAValue) -> SSAValue:
            op = value.owner
            if value in known or not self._differs(value) or isinstance(op, Block):
                return known.get(value, value)
            if isinstance(op, IdOp) and op.range in others:
                return others[op.range].number
            operands = [again(operand) for operand in op.operands]
            # A shifted range has the tag of the range that it is shifted from.
            same = (
                ShiftOp(*operands)
                if isinstance(op, ShiftOp)
                else op.clone(dict(zip(op.operands, operands, strict=True)))
            )
            copy = add(same)
            copy.name_hint = f"{prefix}_{value.name_hint}" if value.name_hint else None
            return known.setdefault(value, copy)

        return [again(value) if isinstance(value, SSAValue) else value for value in values]

    def _differs(self, value: SSAValue) -> bool:
        """Whether a value depends on the ranges, or is not known outside of home."""
        if value in self.ranges:
            return True
        op = value.owner
        if isinstance(op, Block):
            return op is self.home
        return op.parent is self.home or any(map(self._differs, op.operands))


def _repeats(op: Operation) -> bool:
    """Whether an op gives the same anywhere: it computes, or reads numbers that nothing writes."""
    if isinstance(op, GetOp):
        return _holds_all_numbers(op.memory)
    return is_side_effect_free(op) and not op.regions and not isinstance(op, CountOp | EndOp)


def _holds_all_numbers(ref: SSAValue) -> bool:
    """Whether a ref is an operand of the call in scalar memory, and the same part of it in all cells."""
    assert isinstance(ref.type, RefType)
    call = ref.owner.parent_op() if isinstance(ref.owner, Block) else None
    if ref.type.space.data != "smem" or not isinstance(call, CallOp) or ref not in call.input_refs:
        return False
    return not call.windows.data[call.input_refs.index(ref)].grid_dims
