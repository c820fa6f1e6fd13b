"""The pass ``rematerialise-loads``: large blocks are read again behind branches and loops, not kept across them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.cell_footprint import first_user, user_position
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import GetOp, tile_type
from kopt.targets.budget import Budget
from kopt.targets.tiling import register_bytes
from kopt.walk import walk


@dataclass(frozen=True)
class RematerialiseLoadsPass(ModulePass):
    """Reads a block that registers do not hold again behind each branch or loop that its uses stand behind.

    A value that is alive across a branch or a loop is in registers, or is spilled: written to VMEM, and read there. A
    block of a window is in VMEM already. Around straight code alone, Mosaic reads it where it is used.

        %x = tile.get %window[:, :] …   %m = tile.reduce max %x [1]
        %y = scf.if %c … { … }          %e = tile.exp %x
    becomes
        %x = tile.get %window[:, :] …   %m = tile.reduce max %x [1]
        %y = scf.if %c … { … }          %z = tile.get %window[:, :] …   %e = tile.exp %z

    Blocks of memory that the kernel writes stay, and small ones.
    """

    name = "rematerialise-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            for get in walk(call, GetOp):
                if _is_large(get) and all(isinstance(use.operation, GetOp) for use in get.memory.uses):
                    _read_again(get)


def _is_large(get: GetOp) -> bool:
    type = tile_type(get.result)
    assert isinstance(type.element_type, FixedBitwidthType)
    return Budget.spills(register_bytes(type.shape, type.element_type.bitwidth))


def _read_again(get: GetOp) -> None:
    """Gives the uses behind each op with regions, up to the next one, a block of their own."""
    assert get.parent is not None
    position = {op: number for number, op in enumerate(get.parent.ops)}
    walls = [number for op, number in position.items() if op.regions and number > position[get]]
    behind: dict[int, list[Use]] = {}
    for use in get.result.uses:
        user = user_position(use.operation, position)
        if passed := [number for number in walls if number < user]:
            behind.setdefault(passed[-1], []).append(use)
    for uses in behind.values():
        again = get.clone()
        Rewriter.insert_op(again, InsertPoint.before(first_user(uses, position)))
        again.result.name_hint = get.result.name_hint
        for use in uses:
            use.operation.operands[use.index] = again.result
