"""The pass ``narrow-indices``: 64-bit indices of accesses are truncated to 32 bits."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Use
from xdsl.passes import ModulePass

from kopt.analysis.carried_wide import facts_of
from kopt.analysis.wide_facts import is_wide
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import Access
from kopt.walk import walk


@dataclass(frozen=True)
class NarrowIndicesPass(ModulePass):
    """Truncates 64-bit indices that are known modulo 2^32 only, such as the sum of a counter and 64-bit lanes.

    No array has an element whose number takes more than 32 bits. Where such an index is compared with the bounds of
    its array, to clamp it or to leave lanes out, 64 bits would be needed; its low half does not need them.

        %n = tile.add %total, %lanes : !tile.tile<b0=128 x i64>
        tile.store %v, %x[%n] : !tile.tile<b0=128 x f32>, memref<50xf32>
    becomes
        %m = tile.cast %n : !tile.tile<b0=128 x i64> to !tile.tile<b0=128 x i32>
        tile.store %v, %x[%m] : !tile.tile<b0=128 x f32>, memref<50xf32>

    Indices that fit 32 bits, and those that come of 64-bit arrays, stay as they are. It never refuses.
    """

    name = "narrow-indices"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            accesses = walk(launch, Access)
            found = dict.fromkeys(index for access in accesses for index in access.indices if is_wide(index.type))
            facts = facts_of(launch, {}) if found else {}
            for index in found:
                if (fact := facts.get(index)) is not None and fact.kind == "wrapped":
                    index.replace_uses_with_if(Builder.after(index).cast(index, i32), _is_index)


def _is_index(use: Use) -> bool:
    """Whether a use is in an access's index list: behind its memory, where else is a mask alone."""
    op = use.operation
    return isinstance(op, Access) and use.index > op.operands.index(op.memory)
