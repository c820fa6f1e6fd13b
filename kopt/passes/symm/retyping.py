"""Arrays get another allocator, and with them everything that names their type."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.symmetric import in_space
from kopt.dialects import host, triton
from kopt.dialects.builder import as_hint
from kopt.dialects.host import AllocOp, CallOp, CallOutOp, PartitionOp, ReuseOp, ViewOp, YieldOp
from kopt.walk import walk


def move_to(value: SSAValue, group: str | None) -> None:
    """Gives an array, its views and what else passes it on a group's allocator, or the device's own."""
    moved = Rewriter.replace_value_with_new_type(value, in_space(value.type, group))
    for use in list(moved.uses):
        for passed in _passed_on(use.operation, use.index):
            move_to(passed, group)


def _passed_on(op: Operation, number: int) -> tuple[SSAValue, ...]:
    """The values that are the operand of this number under another name."""
    if isinstance(op, ViewOp | ReuseOp):
        return (op.result,)
    if isinstance(op, YieldOp):
        partition = op.parent_op()
        assert isinstance(partition, PartitionOp)
        return (partition.outputs[number],)
    if isinstance(op, host.LaunchOp):
        versions = [op.version_of(number)] if number in op.written else []
        return (op.body.block.args[number], *versions)
    return (op.body.block.args[number],) if isinstance(op, triton.LaunchOp) else ()


def own_allocation(value: SSAValue, func: FuncOp, group: str) -> SSAValue:
    """The array of an allocation, or of a call that is made to write one, as a persistent array of a group."""
    owner = value.owner
    assert isinstance(owner, AllocOp | CallOp)
    new = persistent(func, in_space(value.type, group), value.name_hint, owner)
    if isinstance(owner, CallOp):
        call = CallOutOp(owner.callee.data, owner.inputs, owner.arguments.data, new)
        call.attributes |= owner.attributes
        call.location = owner.location
        Rewriter.insert_op(call, InsertPoint.before(owner))
    elif owner.fill is not None:
        refill = ReuseOp(new, owner.fill)
        refill.location = owner.location
        Rewriter.insert_op(refill, InsertPoint.before(owner))
        new, refill.result.name_hint = refill.result, value.name_hint
    for use in list(value.uses):
        for passed in _passed_on(use.operation, use.index):
            move_to(passed, group)
    Rewriter.replace_op(owner, [], [new])
    return new


def persistent(func: FuncOp, type: MemRefType, name: str | None, cause: Operation) -> SSAValue:
    """A new persistent array at the top of a function, after those that are there, with an id of its own."""
    block = func.body.block
    taken = {op.id.data for op in walk(func, AllocOp) if op.id is not None}
    number = next(n for n in range(len(taken) + 1) if f"{func.sym_name.data}.{n}" not in taken)
    alloc = AllocOp(type, id=f"{func.sym_name.data}.{number}")
    alloc.location = cause.location
    alloc.result.name_hint = as_hint(name)
    first = next((op for op in block.ops if not (isinstance(op, AllocOp) and op.id is not None)), None)
    assert first is not None
    Rewriter.insert_op(alloc, InsertPoint.before(first))
    return alloc.result
