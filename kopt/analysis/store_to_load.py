"""Store-to-load dependence: whether a load may find what the same cell has stored, or updated, before.

Pure. Cells that may run at the same time write apart; within a cell, and between cells that run in order, what counts
is which op stands first, and whether the loops around both move on to other elements.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import effects_on_memory, users
from kopt.analysis.scope import ancestors
from kopt.dialects.tile import Access, ForOp, GridOp, LoadOp, WhenOp, WhileOp, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.ir.from_ssa import IndexAnalysis


def writes_to(memory: SSAValue) -> list[Operation]:
    """The ops that change an array: stores, updates of every kind, and copies that arrive in it."""
    return [op for op in dict.fromkeys(users(memory)) if (MemoryEffectKind.WRITE, memory) in effects_on_memory(op)]


def may_see(load: LoadOp, write: Operation, analysis: IndexAnalysis) -> bool:
    """Whether a load may find what a write to the same array has put there.

    Not where it stands before the write, and every loop around both moves both on to other elements, or runs the load
    on its first visit only. What is no access, such as a copy from another rank, may be there at any time.
    """
    if not isinstance(write, Access) or set(_repeats(load)) & set(_repeats(write)):
        return True
    pairs = list(zip(load.entries, write.entries, strict=True))
    loops = (set(_ordered_loops(load)) & set(_ordered_loops(write))) - set(_first_visits(load))
    moved = all(
        any(_walks(one, range, analysis) and _walks(other, range, analysis) for one, other in pairs) for range in loops
    )
    return not moved or not _stands_before(load, write)


def seen_writes(load: LoadOp, analysis: IndexAnalysis) -> list[Operation]:
    """The writes that a load may see."""
    return [write for write in writes_to(load.memory) if may_see(load, write, analysis)]


def _walks(entry: Entry, loop: SSAValue, analysis: IndexAnalysis) -> bool:
    """Whether an entry is the elements of a range, as a block or as numbers of lanes."""
    if not is_gather(entry):
        return entry is loop
    form = analysis.expr(entry)
    return any(form == analysis.lanes(loop, dim) for dim in range(tile_type(entry).rank))


def _ordered_loops(op: Operation) -> Iterator[SSAValue]:
    """The ranges of the loops around an op whose visits follow one another."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, ForOp):
            yield parent.range
        elif isinstance(parent, GridOp):
            yield from (parent.ranges[number] for number in {*parent.reduction_dims, *parent.ordered_dims})
        parent = parent.parent_op()


def _repeats(op: Operation) -> Iterator[Operation]:
    """The loops around an op of which nothing is known but that they repeat it."""
    return (parent for parent in ancestors(op) if isinstance(parent, WhileOp))


def _first_visits(op: Operation) -> Iterator[SSAValue]:
    """The ranges of the loops that run an op on their first visit only."""
    for parent in ancestors(op):
        if isinstance(parent, WhenOp) and parent.visit.data == "first":
            yield from parent.ranges


def _stands_before(first: Operation, second: Operation) -> bool:
    """Whether an op comes before another, in the block that holds both or ops around them."""
    around = {op.parent: op for op in ancestors(second)}
    ancestor = next(op for op in ancestors(first) if op.parent in around)
    other = around[ancestor.parent]
    return ancestor.is_before_in_block(other)
