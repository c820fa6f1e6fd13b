"""From where to where each array of a function is used, in the run of host ops that uses it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from kopt import dtypes
from kopt.analysis.host_order import host_ops
from kopt.analysis.symmetric import is_reader, is_static, waits
from kopt.dialects.host import AllocOp, FreeOp, PartitionOp, ViewOp, YieldOp
from kopt.dialects.symm import group_of


@dataclass(frozen=True)
class Lifetime:
    """The first and the last op of ``block`` that use an array or a view of it.

    ``end`` is None where the array outlives the block: it is passed on, or other ranks may read it for ever.
    """

    array: SSAValue
    block: Block
    start: Operation
    end: Operation | None


def lifetimes(func: FuncOp) -> list[Lifetime]:
    """The lifetime of each array that a function's host ops make and use, in the order in which they are made."""
    order = {op: number for number, op in enumerate(host_ops(func.body.block))}
    arrays = [value for op in order for value in made_by(op)]
    return [found for array in arrays if (found := _lifetime(array, order)) is not None]


def bytes_of(type: Attribute) -> int:
    """The bytes of an array's elements."""
    assert isinstance(type, MemRefType)
    dtype = dtypes.from_ir(type.element_type)
    return math.prod(type.get_shape()) * (dtype.bytes if dtype is not None else 1)


def made_by(op: Operation) -> Iterator[SSAValue]:
    """The arrays of static shape that a host op makes; views and partitions pass on what others made."""
    if not isinstance(op, ViewOp | PartitionOp):
        yield from (value for value in op.results if is_static(value.type))


def _lifetime(array: SSAValue, order: Mapping[Operation, int]) -> Lifetime | None:
    users = [_ancestor(op, order) for op in _users(array)]
    if not users:
        return None
    makes = array.owner
    assert isinstance(makes, Operation)
    present = users if isinstance(makes, AllocOp) else [makes, *users]
    passed_on = any(isinstance(op, YieldOp) for op in users)
    block = _innermost_block(makes, present, passed_on)
    here = sorted((_ancestor(op, order, block) for op in present), key=order.__getitem__)
    freed = any(isinstance(op, FreeOp) for op in users)
    return Lifetime(array, block, here[0], None if passed_on or freed else _end(array, here[-1], users, order))


def _users(array: SSAValue) -> Iterator[Operation]:
    for use in array.uses:
        yield use.operation
        if isinstance(use.operation, ViewOp):
            yield from _users(use.operation.result)


def _innermost_block(makes: Operation, users: Iterable[Operation], passed_on: bool) -> Block:
    """The innermost run of host ops that has all uses of an array in it."""
    blocks = {op.parent for op in users}
    block = blocks.pop() if len(blocks) == 1 and not passed_on else makes.parent
    assert block is not None
    return block


def _ancestor(op: Operation, order: Mapping[Operation, int], block: Block | None = None) -> Operation:
    """The host op, of a block where one is given, that an op is or is part of."""
    while op not in order or (block is not None and op.parent is not block):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _end(
    array: SSAValue, last: Operation, users: Iterable[Operation], order: Mapping[Operation, int]
) -> Operation | None:
    """Where the memory can be another array's: after the last use, and when no other rank can be reading it."""
    readers = sorted((op for op in users if is_reader(op)), key=order.__getitem__)
    group = group_of(array.type)
    if group is None or not readers:
        return last
    settled: Operation | None = readers[-1]
    while settled is not None and waits(settled, "exit") != group:
        settled = settled.next_op
    if settled is None or settled.parent is not last.parent:
        return None
    return max(settled, last, key=order.__getitem__)
