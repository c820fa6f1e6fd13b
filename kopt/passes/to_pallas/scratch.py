"""Scratch memory of a call: buffers and semaphores of copies."""

from __future__ import annotations

from xdsl.ir import SSAValue

from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import RefType


def scratch_ref(call: CallOp, type: RefType, array: SSAValue, what: str) -> SSAValue:
    """A new scratch argument of a call's body, named after the array that it serves."""
    block = call.body.block
    ref = block.insert_arg(type, len(block.args))
    ref.name_hint = f"{array.name_hint or 'array'}_{what}"
    return ref
