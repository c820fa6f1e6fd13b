"""Integer tiles as sums: ``constant + Σ coefficient · atom``, lane by lane.

An atom is a range (its lanes' element numbers), an ``index`` (the same number in every lane), or a tile that is no such
sum itself: a loaded block of starts. Each atom stands along some dimensions of the tile: `lane_sum` of
``(starts[:, None] + k.index[None, :]) * 20`` is ``20 · starts along (0) + 20 · k along (1)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import SSAValue

from kopt.analysis.linear import linear
from kopt.analysis.ranges import unshifted
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BroadcastOp,
    CastOp,
    DimAttr,
    FullOp,
    IndexOp,
    ReshapeOp,
    ShiftOp,
    SplatOp,
    TileType,
    TransposeOp,
)

#: An atom, and the dimension that each of its dimensions stands along (plain ones of one lane left out).
Placed = tuple[SSAValue, tuple[int, ...]]
_UNIT = DimAttr(1)


@dataclass(frozen=True)
class LaneSum:
    """``const`` plus the ``terms``, none with coefficient 0."""

    const: int = 0
    terms: Mapping[Placed, int] = field(default_factory=dict)

    def __add__(self, other: LaneSum) -> LaneSum:
        sums = dict(self.terms)
        for placed, coefficient in other.terms.items():
            sums[placed] = sums.get(placed, 0) + coefficient
        return LaneSum(self.const + other.const, {placed: c for placed, c in sums.items() if c})

    def __sub__(self, other: LaneSum) -> LaneSum:
        return self + other.times(-1)

    def times(self, factor: int) -> LaneSum:
        """The product with a number."""
        return LaneSum(self.const * factor, {placed: c * factor for placed, c in self.terms.items()} if factor else {})

    def moved(self, places: Mapping[int, int]) -> LaneSum:
        """The same along other dimensions."""
        terms = {(atom, tuple(places[dim] for dim in dims)): c for (atom, dims), c in self.terms.items()}
        return LaneSum(self.const, terms)


def lane_sum(value: SSAValue) -> LaneSum:
    """The sum that an integer tile is; a tile of no known form is its own atom."""
    op = value.owner
    if isinstance(op, FullOp):
        return LaneSum(int(op.number))
    if isinstance(op, ArangeOp) and isinstance(value.type, TileType) and value.type.dims.data == (_UNIT,):
        return LaneSum(op.start.data)
    if isinstance(op, IndexOp):
        return _lanes(op.range)
    if isinstance(op, SplatOp):
        return number(op.scalar) if op.scalar.type == IndexType() else _own(value)
    if isinstance(op, CastOp) and _widens(op):
        return lane_sum(op.input)
    if isinstance(op, ELEMENTWISE["add"]):
        return lane_sum(op.operands[0]) + lane_sum(op.operands[1])
    if isinstance(op, ELEMENTWISE["sub"]):
        return lane_sum(op.operands[0]) - lane_sum(op.operands[1])
    if isinstance(op, ELEMENTWISE["mul"]):
        return _product(lane_sum(op.operands[0]), lane_sum(op.operands[1])) or _own(value)
    if isinstance(op, BroadcastOp | ReshapeOp | TransposeOp):
        places = moves(op)
        return lane_sum(op.input).moved(places) if places is not None else _own(value)
    return _own(value)


def number(value: SSAValue) -> LaneSum:
    """An ``index`` in every lane."""
    form = linear(value)
    return LaneSum(0, {(value, ()): 1}) if form.terms else LaneSum(form.const)


def moves(op: BroadcastOp | ReshapeOp | TransposeOp) -> dict[int, int] | None:
    """Where an op puts each dimension (plain ones of one lane left out), or None if it splits or merges some."""
    wide = [n for n, dim in enumerate(op.input_type.dims.data) if dim != _UNIT]
    if isinstance(op, BroadcastOp):
        return {n: op.mapping[n] for n in wide}
    if isinstance(op, TransposeOp):
        return {n: op.order.index(n) for n in wide}
    after = [n for n, dim in enumerate(op.result_type.dims.data) if dim != _UNIT]
    same = [op.input_type.dims.data[n] for n in wide] == [op.result_type.dims.data[n] for n in after]
    return dict(zip(wide, after, strict=True)) if same else None


def _lanes(range: SSAValue) -> LaneSum:
    """A range's element numbers: those of the range that shifts started from, and the offsets."""
    total = LaneSum(0, {(unshifted(range), (0,)): 1})
    while isinstance(range.owner, ShiftOp):
        total = total + number(range.owner.offset)
        range = range.owner.range
    return total


def _own(value: SSAValue) -> LaneSum:
    assert isinstance(value.type, TileType)
    return LaneSum(0, {(value, tuple(n for n, dim in enumerate(value.type.dims.data) if dim != _UNIT)): 1})


def _widens(op: CastOp) -> bool:
    before, after = (value.type.element_type for value in (op.input, op.result))  # pyright: ignore
    if not isinstance(before, IntegerType) or not isinstance(after, IntegerType):
        return False
    return 32 <= before.width.data <= after.width.data


def _product(a: LaneSum, b: LaneSum) -> LaneSum | None:
    if not a.terms:
        return b.times(a.const)
    return a.times(b.const) if not b.terms else None
