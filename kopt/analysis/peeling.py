"""Index-set splitting: the first visits of a loop in which comparisons of element numbers hold in every lane. Pure.

    tile.for %j: b2=512 in (0, %end) { %seen = tile.ge %rows, %columns … }       // the indices of %i and of %j
has a full visit for each block of ``%j`` that ends before the block of ``%i`` begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from xdsl.ir import Block, SSAValue

from kopt.dialects.tile import ELEMENTWISE, CountOp, ForOp, GridOp, IdOp, WhenOp, tag_of
from kopt.ir.atoms import BlockNumber, Lane
from kopt.ir.choices import maximum, minimum
from kopt.ir.condition import Comparison
from kopt.ir.division import floordiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.to_ssa import IndexWriter
from kopt.plans.plan import LoopSchedule
from kopt.walk import walk

_COMPARISONS = tuple(ELEMENTWISE[name] for name in ("lt", "le", "gt", "ge"))
#: Ops that a loop of its own would answer otherwise.
_COUNTING = (WhenOp, IdOp, CountOp)
#: The parts that loops are peeled into: first visits without masks, and the others.
PEELED = ("full", "diagonal")
#: As many visits with masks, at most, follow one another as straight code.
_REST = 2


@dataclass(frozen=True)
class Peeling:
    """In the visits of the elements before ``split`` all ``conditions`` hold.

    ``rest`` visits follow, of ``left`` elements; None where that is not known.
    """

    split: IndexExpr
    conditions: tuple[SSAValue, ...]
    rest: int | None
    left: int | None


def peeling(loop: ForOp, analysis: IndexAnalysis) -> Peeling | None:
    """The full visits of a loop; None where no comparison tells any, or where the body asks which visit it is."""
    if any(isinstance(use.operation, _COUNTING) for use in loop.range.uses):
        return None
    compared = (op.result for op in loop.body.block.ops if isinstance(op, _COMPARISONS))
    counts = {value: _full_visits(value, loop, analysis) for value in compared}
    found = {value: count for value, count in counts.items() if count is not None}
    if not found:
        return None
    lower, upper = map(analysis.expr, loop.bounds)
    size = analysis.size(loop.range)
    split = maximum(lower, minimum(upper, *(lower + count * size for count in found.values())))
    if split in (lower, upper) or not IndexWriter.can_write(split):
        return None
    left = upper - split
    return Peeling(split, tuple(found), floordiv(left + size - 1, size).range.number, left.range.number)


def with_peeling(grid: GridOp, schedules: Mapping[str, LoopSchedule]) -> dict[str, LoopSchedule]:
    """The schedules of a grid's loops, in which those are peeled that have few visits besides full ones."""
    found, analysis = dict(schedules), IndexAnalysis()
    for loop in walk(grid, ForOp):
        schedule = found.get(tag := tag_of(loop.range), LoopSchedule("resident"))
        parts = peeling(loop, analysis) if schedule == LoopSchedule("resident") else None
        if parts is not None and parts.rest is not None and parts.rest <= _REST:
            found[tag] = replace(schedule, peel=PEELED)
    return found


def _full_visits(value: SSAValue, loop: ForOp, analysis: IndexAnalysis) -> IndexExpr | None:
    """How many visits come before the first in which a comparison may not hold in some lane.

    ``a + b · lane - c · visit >= 0`` does up to visit ``(a + least of b · lane) // c``.
    """
    condition = analysis.condition(value)
    if not isinstance(condition, Comparison) or condition.relation != "ge":
        return None
    least, step = condition.expr, 0
    for atom, factor in condition.expr.terms.items():
        term = IndexExpr(0, {atom: factor})
        if isinstance(atom, BlockNumber) and atom.name is loop.range and isinstance(factor, int):
            least, step = least - term, factor
        elif isinstance(atom, Lane) and term.range.low is not None:
            least = least - term + term.range.low
    return floordiv(least, -step) + 1 if step < 0 and not _moves(least, loop) else None


def _moves(expr: IndexExpr, loop: ForOp) -> bool:
    """Whether an expression differs between lanes, or between the visits of a loop."""
    names = (getattr(atom, "name", None) for atom in expr.atoms())
    return bool(expr.along) or any(isinstance(name, SSAValue) and _is_inside(name, loop) for name in names)


def _is_inside(value: SSAValue, loop: ForOp) -> bool:
    block: Block | None = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None and block is not loop.body.block:
        block = block.parent_block()
    return block is not None
