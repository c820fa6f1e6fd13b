"""What a loop carries, held in scratch memory: where a loop's body has no way to pass values from visit to visit."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects.pallas import ScratchOp
from kopt.dialects.tile import ALL, Entry, ForOp, GetOp, GridOp, PutOp, RefType, TileType, YieldOp


def scratch_of(value: SSAValue, loop: ForOp, grid: GridOp) -> SSAValue:
    """Scratch memory for one carried value, made before the grid."""
    type = value.type
    assert isinstance(type, TileType)
    op = ScratchOp(RefType(type.shape or (1, 1), type.element_type, "vmem"))
    op.location = loop.location
    op.result.name_hint = value.name_hint
    Rewriter.insert_op(op, InsertPoint.before(grid))
    return op.result


def gets(values: Sequence[SSAValue], scratch: Sequence[SSAValue], loop: ForOp) -> list[Operation]:
    """Reads of scratch memory, which take the place of values."""
    ops: list[Operation] = []
    for value, ref in zip(values, scratch, strict=True):
        assert isinstance(value.type, TileType)
        get = GetOp(ref, _entries(ref, value), value.type)
        get.location = loop.location
        get.result.name_hint = value.name_hint
        value.replace_all_uses_with(get.result)
        ops.append(get)
    return ops


def puts(values: Sequence[SSAValue], scratch: Sequence[SSAValue], loop: ForOp) -> list[Operation]:
    """Writes of values to scratch memory."""
    ops: list[Operation] = []
    for value, ref in zip(values, scratch, strict=True):
        put = PutOp(value, ref, _entries(ref, value))
        put.location = loop.location
        ops.append(put)
    return ops


def _entries(ref: SSAValue, value: SSAValue) -> list[Entry]:
    assert isinstance(ref.type, RefType)
    scalar = isinstance(value.type, TileType) and value.type.rank == 0
    return [0 if scalar else ALL] * ref.type.rank


def carry_in_scratch(loop: ForOp, grid: GridOp) -> ForOp:
    """Gives the loop that carries nothing.

    %r = tile.for %k iter(%a = %z) { …; tile.yield %n }
    becomes
    put %z, %s; tile.for %k { %a = get %s; …; put %n, %s }; %r = get %s
    """
    if not loop.inits:
        return loop
    scratch = [scratch_of(value, loop, grid) for value in loop.carried]
    before, after = puts(loop.inits, scratch, loop), gets(loop.results, scratch, loop)
    _replace_carries(loop, scratch)
    new = ForOp(*loop.bounds, [], loop.detach_region(loop.body), loop.schedule, loop.attributes)
    new.location = loop.location
    Rewriter.insert_op([*before, new, *after], InsertPoint.before(loop))
    Rewriter.erase_op(loop)
    return new


def _replace_carries(loop: ForOp, scratch: Sequence[SSAValue]) -> None:
    """Lets the body read scratch memory first, write it last, and pass nothing on."""
    block = loop.body.block
    last = puts(loop.yielded, scratch, loop)
    first = gets(loop.carried, scratch, loop)
    assert block.first_op is not None and block.last_op is not None
    block.insert_ops_before(first, block.first_op)
    Rewriter.replace_op(block.last_op, [*last, YieldOp()])
    for argument in reversed(block.args[1:]):
        block.erase_arg(argument)
