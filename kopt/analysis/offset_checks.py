"""What must hold of offsets for a kernel to stay inside its arrays: rows that items have, for a check before a call.

Pure; of a function after ``raise-jagged``, which makes the rows of items visible. `item_slices` finds each jagged loop,
each loop between bounds that are loaded, and each access to rows of items, where starts and lengths are sums of
elements of arguments (`kopt.analysis.item_numbers`). Accesses under a mask or a condition may be out of range by
intention and are left out, but for the condition that an item is not empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.item_numbers import ItemNumber, ItemReader, Unknown
from kopt.analysis.streaming import is_computed
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.jagged import RowsOp
from kopt.dialects.tile import ELEMENTWISE, Access, CastOp, Entry, ExtractOp, ForOp, GridOp, is_range
from kopt.ir.ranges import Binding, binding, unshifted
from kopt.walk import walk

_LOOPS = (GridOp, ForOp, JaggedForOp)


@dataclass(frozen=True)
class ArrayDim:
    """A dimension of an array."""

    array: str
    dimension: int
    extent: int


@dataclass(frozen=True)
class ItemSlice:
    """Items from ``first`` to before ``last`` reach from ``start`` to before ``end``, in a dimension of an array.

    Without ``target`` they are what a loop walks.
    """

    first: int
    last: int
    start: ItemNumber
    end: ItemNumber
    target: ArrayDim | None = None


def has_bounds_of_items(func: FuncOp) -> bool:
    """Whether some loop goes to bounds that are computed."""
    return any(isinstance(op, JaggedForOp) or isinstance(op, ForOp) and is_computed(op) for op in walk(func))


def item_slices(func: FuncOp) -> tuple[ItemSlice, ...]:
    """What a function's items reach, each once, loops first."""
    loops = [op.range for op in walk(func) if isinstance(op, JaggedForOp) or isinstance(op, ForOp) and is_computed(op)]
    found = [_slice(func, range) for range in loops]
    found += [_slice(func, entry, op, target) for op in walk(func) for entry, target in _targets(op)]
    return tuple(dict.fromkeys(one for one in found if one is not None))


def _targets(op: Operation) -> Iterator[tuple[Entry, ArrayDim]]:
    """The entries of an unmasked access, with the dimension that each indexes."""
    if not isinstance(op, Access) or op.mask is not None or not isinstance(op.memory.type, MemRefType):
        return
    name = op.memory.name_hint or "an array"
    for dimension, (entry, extent) in enumerate(zip(op.entries, op.memory.type.get_shape(), strict=True)):
        yield entry, ArrayDim(name, dimension, extent)


def _slice(
    func: FuncOp, entry: Entry, user: Operation | None = None, target: ArrayDim | None = None
) -> ItemSlice | None:
    """What each item reaches by an entry, where that is known."""
    reader = ItemReader(func)
    try:
        reach = _reach(reader, entry)
        if reach is None or user is not None and not _always(reader, user, reach[1] - reach[0]):
            return None
    except Unknown:
        return None
    items = [binding(range) for range in reader.items]
    if len(items) != 1 or not isinstance(items[0].lower, int) or not isinstance(items[0].upper, int):
        return None
    return ItemSlice(items[0].lower, items[0].upper, *reach, target)


def _reach(reader: ItemReader, entry: Entry) -> tuple[ItemNumber, ItemNumber] | None:
    """The first element of an item's block, and the one behind its last."""
    if not isinstance(entry, SSAValue):
        return None
    if is_range(entry):
        return _walked(reader, binding(entry), reader.shift(entry))
    if isinstance(entry.owner, RowsOp) and unshifted(entry.owner.range) is entry.owner.range:
        return _walked(reader, binding(entry.owner.range), reader.number(entry.owner.starts))
    return None


def _walked(reader: ItemReader, bound: Binding, start: ItemNumber) -> tuple[ItemNumber, ItemNumber]:
    return start + reader.number(bound.lower), start + reader.number(bound.upper)


def _always(reader: ItemReader, op: Operation, length: ItemNumber) -> bool:
    """Whether an op runs for every item of more than no elements."""
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        if not isinstance(parent, _LOOPS) and not _not_empty(reader, parent, op, length):
            return False
        op, parent = parent, parent.parent_op()
    return True


def _not_empty(reader: ItemReader, branch: Operation, op: Operation, length: ItemNumber) -> bool:
    """Whether an op is what is done if its item's length is above 0."""
    if not isinstance(branch, scf.IfOp) or op.parent_region() is not branch.true_region:
        return False
    condition = branch.cond.owner
    while isinstance(condition, ExtractOp | CastOp):
        condition = condition.input.owner
    if not isinstance(condition, ELEMENTWISE["gt"] | ELEMENTWISE["lt"]):
        return False
    high, low = condition.operands if isinstance(condition, ELEMENTWISE["gt"]) else reversed(condition.operands)
    return reader.number(high) - reader.number(low) == length
