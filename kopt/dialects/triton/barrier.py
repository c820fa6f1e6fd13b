"""Where the threads of a program wait for one another."""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind

from kopt.dialects.definition import Op, irdl_op_definition


class _OrdersMemory(MemoryEffect):
    """No access may move across it."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)}


@irdl_op_definition
class BarrierOp(Op):
    """All threads of a program have made their accesses before it, and see what the others stored: ``triton.barrier``.

    Other programs do not wait. The reference interpreter makes the accesses of a program one after another: there it
    does nothing.
    """

    name = "triton.barrier"

    traits = traits_def(_OrdersMemory())

    assembly_format = "attr-dict"

    def __init__(self):
        super().__init__()
