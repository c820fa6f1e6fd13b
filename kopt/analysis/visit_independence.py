"""Visit independence: whether a loop gives the same, however its elements are dealt out to visits.

Pure. So it is where lanes are computed one by one and stored one by one, and whatever is combined over lanes goes, by
the same kind of combination, into a value that is carried from visit to visit: ``acc + sum(block)``, but neither
``acc + max(block)`` nor ``block - mean(block)``. Sums that are rescaled by a running maximum are such, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from kopt.analysis.combining import summed_tags
from kopt.analysis.reduction_loops import KINDS
from kopt.analysis.rescaled_sums import rescaled_sums
from kopt.dialects.tile import (
    BroadcastOp,
    DotOp,
    ElementwiseOp,
    ForOp,
    RangeType,
    ReduceOp,
    ReshapeOp,
    StoreOp,
    TransposeOp,
    tag_of,
)
from kopt.ir.ranges import unshifted
from kopt.walk import walk

#: Ops that put combined values where they are added.
_MOVES = (BroadcastOp, ReshapeOp, TransposeOp)


def is_blind_to_visits(loop: ForOp, apart: Operation | None = None) -> bool:
    """Whether other blocks of the same elements give the same results and the same memory, one op set apart."""
    rescaled = rescaled_sums(loop)
    pairs = [pair for pair in zip(loop.carried, loop.yielded, strict=True) if pair[0] not in rescaled]
    combined = [found for carried, yielded in pairs for found in _combined(yielded, carried, loop)]
    combined += [op for ops in rescaled.values() for op in ops]
    if None in combined or (rescaled and any(isinstance(op, StoreOp) for op in walk(loop.body))):
        return False
    for op in walk(loop.body):
        if op is apart:
            continue
        if isinstance(op, StoreOp) and not any(_walks(entry, loop) for entry in op.indices):
            return False
        if op.name.startswith("atomic.") or (_combines_lanes(op, loop) and op not in combined):
            return False
    return True


def _combined(value: SSAValue, carried: SSAValue, loop: ForOp) -> Iterator[Operation | None]:
    """The ops whose combined lanes a carried value takes up; None where something else becomes of it."""
    op = value.owner
    if value is carried:
        return
    if not isinstance(op, Operation) or len(list(value.uses)) != 1:
        yield None
    elif isinstance(op, DotOp) and op.accumulator is not None and _combines_lanes(op, loop):
        yield op
        yield from _combined(op.accumulator, carried, loop)
    elif isinstance(op, ElementwiseOp) and (kind := KINDS.get(op.ROW.name)) is not None:
        so_far, term = sorted(op.inputs, key=lambda operand: not _holds(operand, carried))
        yield _combination(term, kind, loop)
        yield from _combined(so_far, carried, loop)
    else:
        yield None


def _holds(value: SSAValue, carried: SSAValue) -> bool:
    """Whether a value is the carried one with something combined into it."""
    op = value.owner
    if value is carried:
        return True
    if isinstance(op, DotOp):
        return op.accumulator is not None and _holds(op.accumulator, carried)
    return isinstance(op, ElementwiseOp) and any(_holds(operand, carried) for operand in op.inputs)


def _combination(term: SSAValue, kind: str, loop: ForOp) -> Operation | None:
    """The op that combines a block's lanes by a kind into a term, or None."""
    while len(list(term.uses)) == 1 and isinstance(term.owner, _MOVES):
        term = term.owner.input
    op = term.owner
    if len(list(term.uses)) != 1 or not isinstance(op, Operation) or not _combines_lanes(op, loop):
        return None
    if isinstance(op, DotOp):
        return op if kind == "add" and op.accumulator is None else None
    return op if isinstance(op, ReduceOp) and op.kind.data == kind else None


def _combines_lanes(op: Operation, loop: ForOp) -> bool:
    """Whether an op combines lanes of the loop's block."""
    return tag_of(loop.range) in summed_tags(op)


def _walks(entry: SSAValue, loop: ForOp) -> bool:
    return isinstance(entry.type, RangeType) and unshifted(entry) is loop.range
