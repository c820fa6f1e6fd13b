"""Blocks whose size shows in what a kernel computes: a write or a branch sees what lanes of one were combined to.

Pure. What only goes from visit to visit (the running maximum of a softmax, the accumulator of a product) does not show
which elements shared a visit; ``x[i] - mean(x[i])`` and ``if x[i].sum() > 0`` do.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.combining import ORDERING_OPS, summed_tags
from kopt.dialects.atomic import RmwOp
from kopt.dialects.tile import RangeType, ReduceOp, TileType
from kopt.dialects.tile.memory import WritesMemory
from kopt.walk import walk


def seen_blocks(module: Operation) -> frozenset[str]:
    """The tags of the blocks whose size shows."""
    found: set[str] = set()
    for op in walk(module):
        for tag in _combined_tags(op):
            if tag and tag not in found and _shows(op, _body_of(op, tag), tag):
                found.add(tag)
    return frozenset(found)


def _combined_tags(op: Operation) -> Iterator[str]:
    """The tags of the dimensions whose lanes an op combines or orders."""
    yield from summed_tags(op)
    if isinstance(op, ORDERING_OPS):
        for operand in op.operands:
            if isinstance(operand.type, TileType):
                yield from operand.type.tags


def _body_of(op: Operation, tag: str) -> Block | None:
    """The block of code that runs once for each block of elements: the body of the loop that binds a tag."""
    block = op.parent
    while block is not None:
        if any(isinstance(arg.type, RangeType) and arg.type.tag == tag for arg in block.args):
            return block
        block = block.parent_block()
    return None


def _shows(op: Operation, home: Block | None, tag: str) -> bool:
    """Whether a write or a branch in ``home`` depends on an op's results."""
    seen: set[SSAValue] = set()
    todo = list(op.results)
    while todo and home is not None:
        value = todo.pop()
        if value in seen:
            continue
        seen.add(value)
        for use in value.uses:
            user = use.operation
            if isinstance(user, scf.IfOp) or (user.has_trait(WritesMemory) and not _adds_up(op, user, tag)):
                return True
            if not _ends(user, home):
                todo += [*user.results, *_passed_on(user)]
    return False


def _adds_up(op: Operation, user: Operation, tag: str) -> bool:
    """Whether an update combines results of blocks by the kind that combined their lanes, in a place of all blocks."""
    if not isinstance(user, RmwOp) or user.previous or any(_depends(index, tag) for index in user.indices):
        return False
    return user.kind.data == (op.kind.data if isinstance(op, ReduceOp) else "add")


def _depends(value: SSAValue, tag: str) -> bool:
    """Whether a number comes of where a block of a range begins."""
    seen: set[SSAValue] = set()
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value.type, RangeType) and value.type.tag == tag:
            return True
        if value not in seen and isinstance(value.owner, Operation):
            seen.add(value)
            todo += value.owner.operands
    return False


def _ends(user: Operation, home: Block) -> bool:
    """Whether an op passes its operands on to the next visit."""
    return user is home.last_op


def _passed_on(user: Operation) -> list[SSAValue]:
    """What a loop carries or an inner terminator gives."""
    values: list[SSAValue] = [arg for region in user.regions for block in region.blocks for arg in block.args]
    parent = user.parent_op()
    if parent is not None and user.parent is not None and user is user.parent.last_op:
        values += parent.results
    return [value for value in values if not isinstance(value.type, RangeType)]
