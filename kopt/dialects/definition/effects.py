"""What ops do to memory, by the names of their operands and results: as MLIR's ODS says ``Arg<…, [MemRead]>``."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind


def effects(read: str = "", write: str = "", alloc: str = "", free: str = "", fence: bool = False) -> MemoryEffect:
    """The trait of ops that read, write, allocate and free what the values of these names are; names stand by spaces.

        traits = traits_def(effects(read="source", write="target"))

    A ``fence`` writes memory that no value names: nothing moves across it, and it stays where nobody uses its results.
    """
    kinds = zip(MemoryEffectKind, (read, write, alloc, free), strict=True)
    named = [(kind, name) for kind, names in kinds for name in names.split()]
    general = {EffectInstance(MemoryEffectKind.WRITE)} if fence else set[EffectInstance]()

    class Effects(MemoryEffect):
        @classmethod
        def get_effects(cls, op: Operation) -> set[EffectInstance]:
            pairs = [(kind, getattr(op, name)) for kind, name in named]
            values = [(kind, [one] if isinstance(one, SSAValue) else one) for kind, one in pairs]
            return general | {EffectInstance(kind, one) for kind, some in values for one in some}

    return Effects()
