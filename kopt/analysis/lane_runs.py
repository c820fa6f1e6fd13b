"""Index tiles whose last dimension counts: lane ``n`` is element ``first + step * n``. Pure.

What ``first`` is may differ from row to row of the tile: `lane_run` of ``starts[:, None] * 20 + 2 * arange(64)[None]``
is step 2 from ``20 · starts`` on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from kopt.analysis.lane_sums import LaneSum, lane_sum
from kopt.analysis.linear import begin, linear
from kopt.dialects.tile import ArangeOp, RangeType, TileType


@dataclass(frozen=True)
class LaneRun:
    """``size`` lanes in steps of ``step``, from ``first`` on and, where they are a ``range``'s, as often its begin."""

    first: LaneSum
    step: int
    size: int
    range: SSAValue | None

    @property
    def dims(self) -> frozenset[int]:
        """The dimensions of the index tile that the first element differs along."""
        return frozenset(dim for _, dims in self.first.terms for dim in dims)

    @property
    def divisor(self) -> int:
        """A number that is known to divide the first element, wherever that is; 0 for element 0."""
        return math.gcd(self.first.const, self.pitch)

    @property
    def pitch(self) -> int:
        """A number that is known to divide what first elements are apart; 0 where they are one."""
        atoms = (coefficient * _divisor(atom) for (atom, _), coefficient in self.first.terms.items())
        begins = 0 if self.range is None else self.step * begin(self.range).divisor
        return math.gcd(begins, *atoms)


def lane_run(index: SSAValue) -> LaneRun | None:
    """How an index tile counts along its last dimension; None where it does not, or counts backwards."""
    assert isinstance(index.type, TileType)
    axis, form = index.type.rank - 1, lane_sum(index)
    counted = {placed: factor for placed, factor in form.terms.items() if axis in placed[1]}
    if len(counted) != 1:
        return None
    ((atom, dims), factor) = next(iter(counted.items()))
    size, first = index.type.shape[axis], form - LaneSum(0, counted)
    if dims != (axis,) or factor < 1:
        return None
    if isinstance(atom.type, RangeType):
        return LaneRun(first, factor, size, atom)
    if not isinstance(op := atom.owner, ArangeOp) or op.step.data < 1:
        return None
    return LaneRun(first + LaneSum(op.start.data * factor), op.step.data * factor, size, None)


def single(index: SSAValue) -> LaneRun:
    """Each lane of an index tile as a run of its own, of one lane."""
    return LaneRun(lane_sum(index), 1, 1, None)


def without_last(index: SSAValue) -> LaneSum | None:
    """The sum that an index tile is, where it is the same along the last dimension; else None."""
    assert isinstance(index.type, TileType)
    form = lane_sum(index)
    return None if any(index.type.rank - 1 in dims for _, dims in form.terms) else form


def _divisor(atom: SSAValue) -> int:
    return linear(atom).divisor if isinstance(atom.type, IndexType) else 1
