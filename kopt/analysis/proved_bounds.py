"""Whether all that a kernel reads, writes and copies is known to lie inside of its refs, whatever arrays hold. Pure.

| entry | lies inside where |
|---|---|
| ``:``, a slice, a number | always: the ops verify it |
| a range | its begin, under the conditions around the access, is from 0 to the extent less its lanes |
| a computed number | it is from 0 to below the extent |

What a loaded number tells is inside only if something bounds it, such as the clamps of row numbers. Not looked into are
windows at loaded numbers, pipelines inside of the kernel and copies between ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from kopt.dialects.pallas import CallOp, DmaOp, PipelineOp
from kopt.dialects.tile import Access, RangeType, RefType, is_gather
from kopt.dialects.tile.index_list import Entry
from kopt.ir.condition import Condition, conjunction
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.value_range import ValueRange
from kopt.open_extents import is_open
from kopt.walk import walk


def is_inside(call: CallOp) -> bool:
    """Whether every access of a call, and every end of a copy, is proved to be inside of its ref."""
    analysis = IndexAnalysis()
    known = (DmaOp, Access)
    if any(window.numbers.data for window in call.windows.data):
        return False
    if any(isinstance(op, PipelineOp) or _is_remote(op) for op in walk(call)):
        return False
    return all(_named_inside(ref, entries, op, analysis) for op in walk(call, *known) for ref, entries in _places(op))


def _is_remote(op: Operation) -> bool:
    """Whether an operation copies between ranks, or meets them."""
    return op.dialect_name() == "symm"


def _places(op: Operation) -> Iterator[tuple[SSAValue, Sequence[Entry]]]:
    if isinstance(op, DmaOp):
        yield op.source, op.source_entries
        yield op.target, op.target_entries
        yield op.semaphore, op.semaphore_entries
    elif isinstance(op, Access):
        yield op.memory, op.entries


def _named_inside(ref: SSAValue, entries: Sequence[Entry], op: Operation, analysis: IndexAnalysis) -> bool:
    assert isinstance(ref.type, RefType)
    computed = [(e, size) for e, size in zip(entries, ref.type.shape, strict=True) if isinstance(e, SSAValue)]
    if not computed:
        return True
    if any(is_gather(entry) for entry, _ in computed):
        return False
    where = _conditions(op, analysis)
    return all(_fits(entry, extent, where, analysis) for entry, extent in computed)


def _fits(entry: SSAValue, extent: int, where: Condition, analysis: IndexAnalysis) -> bool:
    ranges = isinstance(entry.type, RangeType)
    first = analysis.begin(entry) if ranges else analysis.expr(entry)
    lanes = entry.type.size if isinstance(entry.type, RangeType) else 1
    return not is_open(extent) and ValueRange(0, extent - lanes).covers(where.range_of(first))


def _conditions(op: Operation, analysis: IndexAnalysis) -> Condition:
    """What holds around an operation: of the branches that it is in."""
    found: list[Condition] = []
    block, parent = op.parent, op.parent_op()
    while parent is not None and not isinstance(parent, CallOp):
        if isinstance(parent, scf.IfOp) and block is not None:
            condition = analysis.condition(parent.cond)
            found.append(condition if block.parent is parent.true_region else condition.negated())
        block, parent = parent.parent, parent.parent_op()
    return conjunction(found)
