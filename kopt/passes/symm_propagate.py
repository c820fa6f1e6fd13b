"""The pass ``symm-propagate``: what an array in symmetric memory is computed from lies there too."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.aliases import root
from kopt.analysis.host_order import host_ops
from kopt.analysis.pointwise import pointwise_inputs
from kopt.analysis.symm_hazards import name_of
from kopt.analysis.symmetric import can_choose, is_contiguous, uses
from kopt.diagnostics import remark
from kopt.dialects.symm import group_of
from kopt.passes.symm.retyping import own_allocation
from kopt.walk import walk


@dataclass(frozen=True)
class SymmPropagatePass(ModulePass):
    """Moves the input of a pointwise call or kernel into symmetric memory, where its result lies there already.

    ``plan-buffers`` can then compute the whole chain in place: a pointwise op may write over its input only where both
    have one allocator. Arrays that are returned, or are read by anything but the chain, stay.

        host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %m : … to memref<8x64xf32>
        host.call_out "aten.relu.default"(%m) args [unit] to %h : … to memref<8x64xf32, #symm.space<"tp">>
    becomes
        host.call_out "aten.mm.default"(%x, %w) args [unit, unit] to %m : … to memref<8x64xf32, #symm.space<"tp">>
        host.call_out "aten.relu.default"(%m) args [unit] to %h : … to memref<8x64xf32, #symm.space<"tp">>

    Each array moved is a remark. It never refuses.
    """

    name = "symm-propagate"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in walk(op):
            if isinstance(func, FuncOp) and func.body.blocks:
                while (found := _next(func)) is not None:
                    _move(func, *found)


def _next(func: FuncOp) -> tuple[SSAValue, str] | None:
    """An array that can move, and the group of the array that it becomes."""
    for op in host_ops(func.body.block):
        for out in op.operands if not op.regions else _outside(op):
            group = group_of(out.type)
            for value in pointwise_inputs(op, out) if group is not None else ():
                if _can_move(value, op):
                    return value, str(group)
    return None


def _outside(op: Operation) -> list[SSAValue]:
    """The values that the ops inside an op use."""
    return list(dict.fromkeys(value for inner in walk(op) for value in inner.operands))


def _can_move(value: SSAValue, op: Operation) -> bool:
    if group_of(value.type) is not None or root(value) is not value or not can_choose(value):
        return False
    users = list(uses(value))
    writers = [user for user in users if not isinstance(user, ReturnOp)]
    only_chain = all(user is op or op.is_ancestor(user) or _is_before(user, op) for user in writers)
    return is_contiguous(value.type) and only_chain and len(writers) == len(users)


def _is_before(user: Operation, op: Operation) -> bool:
    """Whether a use, which then made the array, stands before an op."""
    while user.parent is not op.parent:
        parent = user.parent_op()
        if parent is None:
            return False
        user = parent
    return user.is_before_in_block(op)


def _move(func: FuncOp, value: SSAValue, group: str) -> None:
    owner = value.owner
    assert isinstance(owner, Operation)
    remark(owner, f'{name_of(value)} is computed in the symmetric memory of group "{group}"')
    own_allocation(value, func, group)
