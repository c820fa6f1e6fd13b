"""The pass ``narrow-indices``: sums of 64 bits that may leave 32 bits are cast where they name elements."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.carried_wide import facts_of
from kopt.analysis.wide_facts import is_wide
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import CastOp, LoadOp, StoreOp
from kopt.walk import walk


@dataclass(frozen=True)
class NarrowIndicesPass(ModulePass):
    """Casts computed indices of 64 bits that are known modulo 2^32 only, such as the sum of a counter and 64-bit lanes.

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
            accesses = walk(launch, LoadOp, StoreOp, RmwOp, CasOp)
            found = {index: None for access in accesses for index in access.indices if is_wide(index.type)}
            facts = facts_of(launch, {}) if found else {}
            for index in found:
                if (fact := facts.get(index)) is not None and fact.kind == "wrapped":
                    _narrow(index, accesses)


def _narrow(index: SSAValue, accesses: list[LoadOp | StoreOp | RmwOp | CasOp]) -> None:
    """Makes accesses use the low half of an index."""
    cast, owner = CastOp(index, i32), index.owner
    if isinstance(owner, Operation):
        cast.location = owner.location
    Rewriter.insert_op(cast, InsertPoint.after(owner) if isinstance(owner, Operation) else InsertPoint.at_start(owner))
    for access in accesses:
        for number, operand in enumerate(access.operands):
            if operand is index and index in access.indices:
                access.operands[number] = cast.result
