"""Gives launches arrays with their dimensions in another order, transposed on the host."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import users
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp, PermuteOp
from kopt.dialects.tile import LoadOp, StoreOp, array_type, is_number


def permute(launch: LaunchOp, number: int, order: Sequence[int]) -> None:
    """Gives a launch an array in another order of its dimensions, and the launch's users what they had.

    Only unmasked loads and stores of blocks may access it.
    """
    memory = launch.body.block.args[number]
    outer = array_type(memory)
    inner = MemRefType(outer.element_type, [outer.get_shape()[dim] for dim in order])
    if number < len(launch.inputs):
        source = launch.inputs[number]
        launch.operands[number] = Builder(launch).add(PermuteOp(source, order, inner), source.name_hint)
    memory = Rewriter.replace_value_with_new_type(memory, inner)
    for access in users(memory):
        assert isinstance(access, LoadOp | StoreOp)
        _reindex(access, order)
    if number in launch.written:
        result = launch.version_of(number)
        uses = list(result.uses)
        result = Rewriter.replace_value_with_new_type(result, inner)
        back = PermuteOp(result, sorted(range(len(order)), key=order.__getitem__), outer)
        value = Builder(InsertPoint.after(launch), launch).add(back, result.name_hint)
        for use in uses:
            use.operation.operands[use.index] = value


def _reindex(access: LoadOp | StoreOp, order: Sequence[int]) -> None:
    """The access with its index list in another order; a block whose own dimensions change places is transposed."""
    before = [dim for dim, entry in enumerate(access.entries) if not is_number(entry)]
    after = [dim for dim in order if dim in before]
    entries = [access.entries[dim] for dim in order]
    build = Builder(access)
    if isinstance(access, StoreOp):
        value = build.transpose(access.value, [before.index(dim) for dim in after])
        build.insert(StoreOp(value, access.memory, entries, access.mask, access.attributes))
        Rewriter.erase_op(access)
    else:
        block = build.add(access.with_access(entries, access.mask))
        build.replace(build.transpose(block, [after.index(dim) for dim in before]))
