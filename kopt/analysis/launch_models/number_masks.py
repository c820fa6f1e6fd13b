"""Which work counts in some lanes alone: where a mask holds that element numbers decide. Pure.

A compiler that knows these numbers makes no mask of them, and leaves out the registers in which it never holds.

    %seen = tile.ge %rows, %columns
    %kept = tile.select %seen, %scores, %lowest
    %weights = tile.exp %kept        %sum = tile.reduce add %weights [1]
becomes
    %seen and %kept: the mask itself, 32·block(b0) + lane(0) - 32·block(b1) - lane(1) >= 0
    %scores, %weights and %sum: in the lanes where it holds; the others are -inf, then 0
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.padding import Padding
from kopt.dialects.tile import (
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TileType,
    TransposeOp,
    tile_type,
)
from kopt.ir.atoms import Element, Symbol
from kopt.ir.condition import Comparison, Condition, Junction
from kopt.ir.launch_model import LaneMask

#: Ops whose lanes are made of the same lanes of what they take.
_LANE_BY_LANE = (BroadcastOp, CastOp, ElementwiseOp, ReshapeOp, SelectOp, TransposeOp)
#: The masks of operations, and whether these only make the mask.
Masks = dict[Operation, tuple[LaneMask, bool]]


def number_masks(launch: Launch) -> Masks:
    """The operations that make masks of element numbers, or that count in the lanes of one."""
    found: Masks = {}
    ops = [place.op for place in launch.places]
    for op in ops:
        if not isinstance(op, SelectOp) or op in found or not isinstance(op.on_false.owner, FullOp):
            continue
        if (mask := _mask(launch, op.condition)) is not None:
            outside = _OutsideMask(op.condition)
            made, counted = [op, *_for(op.condition)], [*_for(op.on_true), *filter(outside.has, ops)]
            found = dict.fromkeys(counted, (mask, False)) | dict.fromkeys(made, (mask, True)) | found
    return found


def _mask(launch: Launch, condition: SSAValue) -> LaneMask | None:
    """A condition of tiles that is made of the numbers of blocks and lanes alone."""
    if not isinstance(condition.type, TileType) or not all(tile_type(condition).tags[-2:]):
        return None
    held = launch.analysis.condition(condition)
    return LaneMask(held, launch.dims(condition)) if held.along and _is_numbered(held) else None


def _is_numbered(condition: Condition) -> bool:
    if isinstance(condition, Junction):
        return all(map(_is_numbered, condition.conditions))
    atoms = condition.expr.atoms() if isinstance(condition, Comparison) else [Symbol(condition)]
    return not any(isinstance(atom, Symbol | Element) for atom in atoms)


def _for(value: SSAValue) -> Iterator[Operation]:
    """What is computed, lane by lane, for one use of a value alone."""
    todo = [value]
    while todo:
        op = todo.pop().owner
        if isinstance(op, _LANE_BY_LANE) and len(list(op.results[0].uses)) == 1:
            yield op
            todo += op.operands


class _OutsideMask(Padding):
    """What the lanes hold in which a mask does not, where the mask put a number."""

    def __init__(self, condition: SSAValue):
        super().__init__(set(tile_type(condition).tags) - {""})
        self._condition = condition

    def has(self, op: Operation) -> bool:
        """Whether those lanes of what an operation computes, or combines, are one number."""
        if isinstance(op, ReduceOp):
            return self.of(op.input) is not None
        return isinstance(op, _LANE_BY_LANE) and self.of(op.results[0]) is not None

    def never(self, condition: SSAValue) -> bool:
        return condition is self._condition

    def _is_below_maximum(self, lanes: SSAValue, largest: SSAValue) -> bool:
        """libtpu takes what is subtracted from -inf to be finite."""
        return self.of(lanes) == -math.inf

    def _load(self, op: LoadOp) -> None:
        return None

    def _mask(self, op: MaskOp) -> float | None:
        return self.of(op.input)
