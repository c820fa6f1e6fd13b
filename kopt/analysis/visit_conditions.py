"""In which visits of a loop comparisons hold in every lane, or in none, over some cells of a grid. Pure."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from kopt.dialects.tile import ELEMENTWISE, ForOp
from kopt.ir.atoms import Lane
from kopt.ir.condition import Comparison, Condition, Truth
from kopt.ir.evaluation import evaluate
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.planning.versions import alike

_COMPARISONS = tuple(ELEMENTWISE[name] for name in ("lt", "le", "gt", "ge"))
#: What comparisons are known to be, of a run of visits.
Known = dict[SSAValue, bool]


def runs_of_visits(loop: ForOp, trips: int, range: SSAValue, first: int, last: int) -> list[tuple[int, Known]]:
    """Runs of visits in which the same comparisons are known: how many visits each has, and what is known in them.

    ``trips`` are those of the loop in the cells whose blocks of ``range``, an axis of the grid, are ``first`` to
    ``last``.
    """
    analysis = IndexAnalysis()
    blocks, visits = np.arange(first, last + 1)[:, None], np.arange(trips)[None, :]
    numbers = {range: blocks, loop.range: visits}
    known: list[Known] = [{} for _ in visits[0]]
    for op in loop.body.block.ops:
        if isinstance(op, _COMPARISONS):
            always, never = _held(analysis.condition(op.result), numbers, (len(blocks), trips))
            for visit, facts in enumerate(known):
                if always[visit] or never[visit]:
                    facts[op.result] = bool(always[visit])
    return [(last - first, known[first]) for first, last in alike(known)]


def _held(condition: Condition, numbers: dict, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """In which visits a condition holds in every lane of every cell, and in which in none."""
    if isinstance(condition, Truth):
        return np.full(shape[1], condition.value), np.full(shape[1], not condition.value)
    unknown = np.zeros(shape[1], bool), np.zeros(shape[1], bool)
    if not isinstance(condition, Comparison) or condition.relation != "ge":
        return unknown
    rest, low, high = condition.expr, 0, 0
    for atom, factor in condition.expr.terms.items():
        if isinstance(atom, Lane) and isinstance(factor, int) and isinstance(atom.size, int):
            ends = sorted((0, factor * (atom.size - 1)))
            rest, low, high = rest - IndexExpr(0, {atom: factor}), low + ends[0], high + ends[1]
    if rest.along:
        return unknown
    try:
        found = np.broadcast_to(evaluate(rest, numbers), shape)
    except KeyError:  # of what is known in the launch alone
        return unknown
    return np.all(found + low >= 0, axis=0), np.all(found + high < 0, axis=0)
