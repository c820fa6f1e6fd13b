"""How much each item of a grid has to do: the visits of the loops whose bounds are its own numbers.

Pure; of a function after ``raise-jagged``. A loop inside another of the kind is counted once for each visit of the
outer one. Loops whose bounds are no sums of elements of arrays on the host count as one visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.item_numbers import ItemNumber, ItemReader, Unknown
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import CountOp, ForOp, GridOp, IdOp, range_type
from kopt.ir.ranges import binding, unshifted
from kopt.walk import walk

#: Ops on a range that count its blocks from where a loop begins.
_COUNTS_BLOCKS = (IdOp, CountOp)


class NotBalanced(Exception):
    """Why items cannot be dealt out by their work, in words."""


@dataclass(frozen=True)
class ItemLoop:
    """A loop over ``length`` elements in blocks of ``size``."""

    length: ItemNumber
    size: int


@dataclass(frozen=True)
class ItemWork:
    """The grid's range over items, and the loops of an item: each with those around it."""

    items: SSAValue
    nests: tuple[tuple[ItemLoop, ...], ...]


def item_work(grid: GridOp) -> ItemWork:
    """The work of a grid's items. Raises `NotBalanced`."""
    if grid.reduction_dims or grid.ordered_dims:
        raise NotBalanced("its cells run in order")
    func = grid.parent_op()
    assert isinstance(func, FuncOp)
    walks: dict[Operation, ItemLoop] = {}
    items: set[SSAValue] = set()
    for loop in walk(grid):
        reader = ItemReader(func)
        found = _walk(reader, loop)
        if found is not None:
            walks[loop] = found
            items |= reader.items
    if not walks:
        raise NotBalanced("no loop goes to bounds that are known for each item before the launch")
    if len(items) != 1 or binding(next(iter(items))).owner is not grid:
        raise NotBalanced("its loops go over more than one dimension of items")
    (range,) = items
    counting = next((op for op in walk(grid) if isinstance(op, _COUNTS_BLOCKS) and unshifted(op.range) is range), None)
    if counting is not None:
        raise NotBalanced(f"'{counting.name}' asks for numbers of blocks")
    nests = [tuple(walks[op] for op in _loops(loop, grid) if op in walks) for loop in walks]
    return ItemWork(range, tuple(nests))


def _walk(reader: ItemReader, loop: Operation) -> ItemLoop | None:
    """What a loop walks for each item; None where it is the same for all, or not known."""
    try:
        if isinstance(loop, JaggedForOp):
            return ItemLoop(reader.number(loop.lengths), range_type(loop.range).size)
        if isinstance(loop, ForOp):
            lower, upper = loop.bounds
            length = reader.number(upper) - reader.number(lower)
            return ItemLoop(length, range_type(loop.range).size) if length.terms else None
    except Unknown:
        reader.items.clear()
    return None


def _loops(loop: Operation, grid: GridOp) -> Iterator[Operation]:
    """A loop and those around it, up to the grid."""
    parent: Operation | None = loop
    while parent is not None and parent is not grid:
        yield parent
        parent = parent.parent_op()
