"""Scratch memory of a call: buffers and semaphores of copies."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import RefType


def scratch_ref(call: CallOp, type: RefType, array: SSAValue, what: str, behind: SSAValue | None = None) -> SSAValue:
    """A new scratch argument of a call's body, named after the array that it serves: the last, or ``behind`` one."""
    block = call.body.block
    ref = block.insert_arg(type, len(block.args) if behind is None else block.args.index(behind) + 1)
    ref.name_hint = scratch_name(array, what)
    return ref


def scratch_name(array: SSAValue, what: str) -> str:
    """The name of scratch memory that serves an array."""
    return f"{array.name_hint or 'array'}_{what}"
