"""Index tiles whose last dimension counts: lane ``n`` is element ``first + step * n``.

What ``first`` is may differ from row to row of the tile: `lane_run` of ``starts[:, None] * 20 + 2 * arange(64)[None]``
is step 2 from ``20 · starts`` on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.dialects.tile import tile_type
from kopt.ir.index_expr import IndexExpr
from kopt.ir.runs import Strided, strided
from kopt.ir.sums import SumAnalysis


@dataclass(frozen=True)
class LaneRun:
    """``size`` lanes in steps of ``step``, from ``first`` on."""

    first: IndexExpr
    step: int
    size: int

    @property
    def const(self) -> int:
        """What is added to first elements whatever they are."""
        assert isinstance(self.first.const, int)
        return self.first.const

    @property
    def pitch(self) -> int:
        """A number that is known to divide what first elements are apart; 0 where they are one."""
        return (self.first - self.const).divisor


def lane_run(index: SSAValue, sums: SumAnalysis) -> LaneRun | None:
    """How an index tile counts along its last dimension; None where it does not, or counts backwards."""
    return run_along_last(sums.expr(index), tile_type(index).shape)


def run_along_last(form: IndexExpr, shape: Sequence[int]) -> LaneRun | None:
    """How a sum over a block of a shape counts along its last dimension; None where it does not, or backwards."""
    found = strided(form, len(shape) - 1)
    if found is None or not isinstance(found.step, int) or found.step < 1:
        return None
    return LaneRun(found.start, found.step, shape[-1])


def single(index: SSAValue, sums: SumAnalysis) -> LaneRun:
    """Each lane of an index tile as a run of its own, of one lane."""
    return LaneRun(sums.expr(index), 1, 1)


def along_last(index: SSAValue, sums: SumAnalysis) -> Strided | None:
    """How an index tile goes along its last dimension."""
    return strided(sums.expr(index), tile_type(index).rank - 1)
