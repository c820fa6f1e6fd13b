"""Which values can be computed again as they are for other blocks of some ranges: at a loop's next visit, in the next
cell.

Pure. A value differs there where it is computed from such a range, is carried by its loop, or is read of memory whose
contents differ: of a window that moves, or of what the kernel writes. It can be computed again where it is computed
by pure operations, or loaded of numbers that are in scalar memory as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.effects import get_effects, is_side_effect_free
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import CarryingLoop, CountOp, EndOp, GetOp, GridOp, RefType, WholeOp
from kopt.walk import walk

#: What is the same wherever it stands: numbers, and ranges over plain extents.
CONSTANTS = (arith.ConstantOp, WholeOp)


@dataclass(frozen=True)
class Rematerialisation:
    """Values where some ``ranges`` have other blocks, outside of the block ``home``.

    What depends on none of the ranges, and is known outside of ``home``, is shared; so are constants, wherever they
    stand: whoever shares them moves them.
    """

    ranges: frozenset[SSAValue]
    home: Block | None = None
    _known: dict[SSAValue, bool] = field(default_factory=dict)

    def can(self, value: object) -> bool:
        """Whether a value, or any other entry of an index list, is shared or can be computed again."""
        if not isinstance(value, SSAValue) or not self.differs(value):
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
        if not self.differs(value):
            yield value
        elif isinstance(op, Operation):
            for operand in op.operands:
                yield from self.shared(operand)

    def differs(self, value: SSAValue) -> bool:
        """Whether a value depends on the ranges, or is not known outside of home."""
        if value in self.ranges:
            return True
        if value not in self._known:
            op = value.owner
            self._known[value] = self._is_bound(op) if isinstance(op, Block) else self._is_made_anew(op)
        return self._known[value]

    def _is_bound(self, block: Block) -> bool:
        """Whether a block's arguments differ: home's, and what loops over the ranges carry."""
        loops = {range.owner for range in self.ranges if isinstance(range.owner.parent_op(), CarryingLoop)}
        return block is self.home or block in loops

    def _is_made_anew(self, op: Operation) -> bool:
        if isinstance(op, CONSTANTS):
            return False
        inputs = (operand for inner in walk(op) for operand in inner.operands)
        return op.parent is self.home or any(map(self.differs, inputs)) or self._reads_others(op)

    def _reads_others(self, op: Operation) -> bool:
        """Whether an operation runs again for other blocks, and may read other contents then."""
        moving = [range for range in self.ranges if op.parent is not None and _is_inside(op, range.owner)]
        if not moving or is_side_effect_free(op):
            return False
        effects = get_effects(op)
        return effects is None or not all(
            effect.kind is MemoryEffectKind.READ and isinstance(effect.value, SSAValue) and _lasts(effect.value, moving)
            for effect in effects
        )


def _is_inside(op: Operation, block: Block | Operation) -> bool:
    return isinstance(block, Block) and block.is_ancestor(op)


def _lasts(ref: SSAValue, ranges: list[SSAValue]) -> bool:
    """Whether what a ref holds is the same for all blocks of ranges: an operand's that nothing writes, whose window
    does not move with them."""
    call = ref.owner.parent_op() if isinstance(ref.owner, Block) else None
    if not isinstance(call, CallOp) or ref not in call.input_refs:
        return False
    number = call.input_refs.index(ref)
    dims = call.windows.data[number].grid_dims
    moved = any(_grid_dim(range) in dims for range in ranges)
    assert isinstance(ref.type, RefType)
    return not moved and (ref.type.space.data != "hbm" or number not in call.aliased)


def _grid_dim(range: SSAValue) -> int | None:
    """The dimension of the grid that binds a range."""
    assert isinstance(range.owner, Block)
    return range.owner.args.index(range) if isinstance(range.owner.parent_op(), GridOp) else None  # pyright: ignore


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
