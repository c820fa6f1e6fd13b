"""Which storage a memref is, and who writes it: views followed to their root."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.effects import get_effects, is_pure
from kopt.dialects.host import PartitionOp, ViewOp
from kopt.dialects.tile import GridOp
from kopt.walk import walk


def root(value: SSAValue) -> SSAValue:
    """The argument or allocation whose storage a memref shares."""
    while isinstance(value.owner, ViewOp | PartitionOp):
        value = value.owner.source if isinstance(value.owner, ViewOp) else _yielded(value, value.owner)
    return value


def _yielded(result: SSAValue, partition: PartitionOp) -> SSAValue:
    return partition.yielded[partition.outputs.index(result)]


def view_chain(value: SSAValue) -> tuple[ViewOp, ...]:
    """The views that lead from the root to a memref, root's first."""
    chain: list[ViewOp] = []
    while isinstance(value.owner, ViewOp):
        chain.append(value.owner)
        value = value.owner.source
    return tuple(reversed(chain))


def effects_on_memory(op: Operation) -> Iterator[tuple[MemoryEffectKind, SSAValue]]:
    """The reads and writes of memrefs inside ``op``, at any depth, as (kind, memref)."""
    for inner in walk(op) if op.regions else (op,):
        if inner.regions or is_pure(type(inner)):
            continue
        for effect in get_effects(inner) or ():
            if isinstance(effect.value, SSAValue) and isinstance(effect.value.type, MemRefType):
                yield effect.kind, effect.value


def accessed(op: Operation, kind: MemoryEffectKind) -> tuple[SSAValue, ...]:
    """The memrefs that ``op`` reads or writes, each once, in order of appearance."""
    return tuple(dict.fromkeys(value for found, value in effects_on_memory(op) if found is kind))


def users(memory: SSAValue) -> list[Operation]:
    """The operations that use a memref; the plan of a grid says how others do, and is none of them."""
    return [use.operation for use in memory.uses if not isinstance(use.operation, GridOp)]


def written_arguments(func: FuncOp) -> tuple[BlockArgument, ...]:
    """The arguments whose storage a function writes, in order."""
    written = {root(value) for value in accessed(func, MemoryEffectKind.WRITE)}
    return tuple(arg for arg in func.body.block.args if arg in written)
