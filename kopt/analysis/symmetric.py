"""Symmetric memory: which ops need it, which arrays may lie in it, and what a function's host ops are in order."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root
from kopt.dialects.host import AllocOp, CallOp, PartitionOp, ReuseOp, ViewOp
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.dialects.symm import AllReduceOp, AllReduceOutOp, BarrierOp, SpaceAttr

#: Collectives that read other ranks' symmetric memory.
Reader = AllReduceOp | AllReduceOutOp


def is_reader(op: Operation) -> bool:
    """Whether an op reads its input from all ranks' memory, so that it must lie in its group's space."""
    return isinstance(op, Reader) and op.algorithm is not None


def overwrites_input(op: Operation) -> bool:
    """Whether a collective leaves its input unspecified."""
    return isinstance(op, Reader) and op.algorithm is not None and op.algorithm.data == "two_shot"


def waits(op: Operation, end: str) -> str | None:
    """The group whose ranks all wait for each other at an op's ``entry`` or ``exit``, or None."""
    if isinstance(op, BarrierOp):
        return op.group.data
    if not is_reader(op):
        return None
    assert isinstance(op, Reader)
    return op.group.data if isinstance(op, AllReduceOp) or end in op.waits_at else None


def writes(op: Operation) -> tuple[SSAValue, ...]:
    """The memory that a host op writes, by root; that of a collective's overwritten input too."""
    if isinstance(op, PartitionOp):
        return ()  # its ops are host ops too
    if isinstance(op, ReuseOp):
        return (root(op.source),) if op.fill is not None else ()
    found = {root(value): None for value in accessed(op, MemoryEffectKind.WRITE)}
    if isinstance(op, AllReduceOp) and overwrites_input(op):
        found[root(op.input)] = None
    return tuple(found)


def is_static(type: Attribute) -> bool:
    """Whether all sizes of a memref are numbers."""
    return isinstance(type, MemRefType) and type.has_static_shape()


def is_contiguous(type: Attribute) -> bool:
    """Whether a static memref's elements lie one after the other in row-major order, wherever they begin."""
    assert isinstance(type, MemRefType)
    if isinstance(type.layout, NoneAttr):
        return True
    strides = type.get_strides()
    step = 1
    for size, stride in reversed(list(zip(type.get_shape(), strides or (), strict=strides is not None))):
        if size != 1 and stride != step:
            return strides is not None and 0 in type.get_shape()
        step *= size
    return strides is not None


def in_space(type: Attribute, group: str | None) -> MemRefType:
    """A memref type with another allocator: a group's symmetric memory, or the device's own."""
    assert isinstance(type, MemRefType)
    return MemRefType(type.element_type, type.shape, type.layout, SpaceAttr(group) if group else NoneAttr())


def can_choose(value: SSAValue) -> bool:
    """Whether the function decides where an array lies: its own allocation, or a call that can write a given one."""
    owner = value.owner
    if isinstance(owner, CallOp):
        return owner.callee.data in OUT_FORMS and len(owner.outputs) == 1 and is_contiguous(value.type)
    return isinstance(owner, AllocOp)


def uses(value: SSAValue) -> Iterator[Operation]:
    """The ops that use a memref or a view of it; views and partitions that pass it on are not named."""
    for use in value.uses:
        if isinstance(use.operation, ViewOp):
            yield from uses(use.operation.result)
        else:
            yield use.operation
