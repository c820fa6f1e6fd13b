"""The pass ``unroll-single-trip-loops``: loops of one visit are no loops."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.alignment import copied_multiple
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    Access,
    BeginOp,
    CountOp,
    EndOp,
    ForOp,
    IdOp,
    RangeType,
    ValidCountOp,
    WhenOp,
    WholeOp,
    range_type,
    tag_of,
)
from kopt.ir.ranges import binding
from kopt.walk import walk


@dataclass(frozen=True)
class UnrollSingleTripLoopsPass(ModulePass):
    """Unrolls loops of one trip: the body takes the loop's place. Its blocks are windows, what it carries is a value.

    Its loads then move with the loop around it, if there is one, which fetches them a visit ahead.

        tile.for %k: b0=64 in (%lo, %hi) { tile.for %m: b1=128 in (0, 100) { %v = tile.load %x[%k, %m] … } }
    becomes
        tile.for %k: b0=64 in (%lo, %hi) { %m = tile.whole 100 : !tile.range<b1=128>   %v = tile.load %x[%k, %m] … }

    Its only block is number 0 and begins at 0, so ``tile.begin``, ``tile.id`` and the like become constants.

    These stay loops: those that begin at another number than 0, those that ask which visit it is, and those whose
    blocks are no whole tiles of memory, which no DMA copies. So do those that the configuration's plan names, by their
    variable or tag: ``keep``.
    """

    name = "unroll-single-trip-loops"

    keep: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for loop in walk(launch, ForOp):
                once = loop.bounds[0] == 0 and binding(loop.range).trips == 1
                if once and _names(loop).isdisjoint(self.keep) and _is_no_more_than_blocks(loop):
                    _inline(loop)


def _names(loop: ForOp) -> set[str | None]:
    return {loop.range.name_hint, tag_of(loop.range)}


def _is_no_more_than_blocks(loop: ForOp) -> bool:
    """Whether a loop's range stands for blocks that DMAs copy alone."""
    users = [use.operation for use in loop.range.uses]
    accesses = [op for op in users if isinstance(op, Access)]
    return not any(isinstance(op, WhenOp) for op in users) and all(_is_copied(op, loop.range) for op in accesses)


def _is_copied(access: Access, range: SSAValue) -> bool:
    type = access.memory.type
    if not isinstance(type, MemRefType):
        return True
    dims = [dim for dim, entry in enumerate(access.entries) if entry is range]
    return all(range_type(range).size % copied_multiple(type, dim) == 0 for dim in dims)


def _inline(loop: ForOp) -> None:
    upper = loop.bounds[1]
    assert isinstance(upper, int) and isinstance(loop.range.type, RangeType)
    whole = WholeOp(upper, loop.range.type)
    whole.location = loop.location
    whole.result.name_hint = loop.range.name_hint
    Rewriter.insert_op(whole, InsertPoint.before(loop))
    inits = list(loop.inits)
    given: dict[SSAValue, SSAValue] = dict(zip(loop.body.block.args[1:], inits, strict=True))
    results = [given.get(value, value) for value in loop.yielded]  # some may be handed on as they come
    terminator = loop.body.block.last_op
    assert terminator is not None
    Rewriter.erase_op(terminator)
    Rewriter.inline_block(loop.body.block, InsertPoint.before(loop), [whole.result, *inits])
    Rewriter.replace_op(loop, [], results)
    _fold_numbers(whole)


def _fold_numbers(whole: WholeOp) -> None:
    """Replaces the numbers of a range of one block by constants: they need not stand below the range's own op."""
    extent = whole.extent.data
    numbers = {BeginOp: 0, IdOp: 0, EndOp: extent, ValidCountOp: extent, CountOp: 1}
    for use in list(whole.result.uses):
        if (number := numbers.get(type(use.operation))) is not None:
            constant = ConstantOp(IntegerAttr(number, IndexType()))
            constant.location = use.operation.location
            Rewriter.replace_op(use.operation, constant)
