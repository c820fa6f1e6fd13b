"""Coverage: whether a launch writes all of an array, and whether it needs what the array held before.

Pure. An array's old elements are needed where a lane that comes back may not have been written: a store under a
condition or a mask, a grid that leaves blocks out, a range that ends before the array does.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from kopt.analysis.linear import begin
from kopt.analysis.ranges import Binding, always_full, binding, unshifted, walked_range
from kopt.analysis.windows import Window
from kopt.dialects.host import AllocOp, LaunchOp
from kopt.dialects.tile import ForOp, GridOp, RangeType, StoreOp, WhenOp
from kopt.dialects.tile.index_list import AllAttr, Entry


def needs_old(launch: LaunchOp, number: int, window: Window) -> bool:
    """Whether the operand's elements from before the launch are seen inside or after it."""
    if window.loads:
        return True
    return not unspecified(launch.inputs[number]) and not covered(window)


def unspecified(value: SSAValue) -> bool:
    """Whether an array's elements have no meaning yet."""
    return isinstance(value.owner, AllocOp) and value.owner.fill is None


def covered(window: Window) -> bool:
    """Whether one unconditional store alone writes every element of the array, over the whole grid."""
    return any(_covers(store, window) for store in window.stores)


def _covers(store: StoreOp, window: Window) -> bool:
    if store.mask is not None or not _runs_always(store):
        return False
    shape = window.type.get_shape()
    ranges = [unshifted(e) for e in store.entries if isinstance(e, SSAValue) and isinstance(e.type, RangeType)]
    if len(set(ranges)) != len(ranges):
        return False  # a diagonal
    return all(_whole(entry, extent) for entry, extent in zip(store.entries, shape, strict=True))


def _runs_always(op: Operation) -> bool:
    """Whether every cell, or the last visit to every block, executes an op."""
    for parent in _parents(op):
        if isinstance(parent, GridOp):
            return True
        if not isinstance(parent, ForOp | WhenOp):
            return False
    return False


def _parents(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


def _whole(entry: Entry, extent: int) -> bool:
    """Whether an entry takes every index of a dimension in the course of its loops."""
    if isinstance(entry, AllAttr):
        return True
    if entry == 0 and extent == 1:
        return True
    if not isinstance(entry, SSAValue):
        return False
    if isinstance(entry.type, RangeType):
        return unshifted(entry) is entry and _walks(binding(entry), extent)
    return False


def _walks(bound: Binding, extent: int) -> bool:
    outer = walked_range(bound)
    if outer is not None:
        return _walks(binding(outer), extent)
    return bound.lower == 0 and isinstance(bound.upper, int) and bound.upper >= extent


def stays_inside(entry: SSAValue, extent: int) -> bool:
    """Whether lanes of a stored range outside its limit lie beyond the array, so that writing them changes nothing."""
    range = unshifted(entry)
    if always_full(range):
        return True
    offset = begin(entry) - begin(range)
    bound = binding(range)
    outer = walked_range(bound)
    if outer is not None and binding(outer).size % bound.size == 0:
        bound = binding(outer)
    if not isinstance(bound.upper, int):
        return False
    return not offset.terms and bound.upper + offset.const >= extent

