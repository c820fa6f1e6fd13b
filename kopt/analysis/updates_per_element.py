"""How many updates of one launch meet in one element."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, SSAValue

from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import BeginOp, ForOp, GridOp, IdOp, RangeType, is_gather, is_range
from kopt.ir.ranges import binding, unshifted


def updates_of_an_element(op: RmwOp | CasOp) -> int | None:
    """The most lanes of all cells that address one element, or None where that is not known.

    The blocks of a loop address different elements where its range, or where its block begins, is an index. Those of
    the other loops may all address the same.
    """
    if any(is_gather(entry) for entry in op.entries):
        return None
    moving = set(walked(op))
    meeting = 1
    for range in ranges_around(op):
        if range not in moving:
            trips = _trips(range)
            if trips is None:
                return None
            meeting *= trips
    return meeting


def walked(op: RmwOp | CasOp) -> Iterator[SSAValue]:
    """The ranges whose blocks address different elements each."""
    for entry in op.entries:
        if isinstance(entry, SSAValue):
            if is_range(entry):
                yield unshifted(entry)
            elif isinstance(entry.owner, BeginOp | IdOp):
                yield unshifted(entry.owner.range)


def ranges_around(op: RmwOp | CasOp) -> Iterator[SSAValue]:
    """The ranges of the loops around an op."""
    block: Block | None = op.parent
    while block is not None and (parent := block.parent_op()) is not None:
        yield from (arg for arg in block.args if isinstance(arg.type, RangeType))
        block = parent.parent


def _trips(range: SSAValue) -> int | None:
    """Blocks of a range, where its loop counts them."""
    loop = range.owner.parent_op() if isinstance(range.owner, Block) else None
    return binding(range).trips if isinstance(loop, GridOp | ForOp) else None
