"""Numbers that each item has, as sums of elements of arrays on the host: where it starts, how long it is.

``offsets[i + 1] - offsets[i]``, loaded as tiles or one by one, of an argument, of what the host computes before the
kernel, or of a host slice of either. What is computed in another way, or from more than one loop over items, is not
such a number; nor is what the function itself writes.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root, view_chain
from kopt.analysis.lane_sums import lane_sum
from kopt.analysis.linear import linear
from kopt.analysis.ranges import binding, unshifted
from kopt.dialects.host import CallOp, SliceOp
from kopt.dialects.tile import CastOp, ExtractOp, LoadOp, RangeType, ShiftOp


@dataclass(frozen=True, order=True)
class Element:
    """For item ``i``, element ``i + shift`` of an array of one dimension: of number ``array`` of `host_arrays`."""

    array: int
    name: str
    shift: int


@dataclass(frozen=True)
class ItemNumber:
    """``const`` plus the ``terms``, in the order of their elements, none with factor 0."""

    const: int = 0
    terms: tuple[tuple[Element, int], ...] = ()

    def __add__(self, other: ItemNumber) -> ItemNumber:
        sums = dict(self.terms)
        for element, factor in other.terms:
            sums[element] = sums.get(element, 0) + factor
        return ItemNumber(self.const + other.const, tuple(sorted((e, f) for e, f in sums.items() if f)))

    def __sub__(self, other: ItemNumber) -> ItemNumber:
        return self + other.times(-1)

    def times(self, factor: int) -> ItemNumber:
        """The product with a number."""
        return ItemNumber(self.const * factor, tuple((e, f * factor) for e, f in self.terms) if factor else ())


class Unknown(Exception):
    """A value is no sum of elements of arrays on the host."""


def host_arrays(func: FuncOp) -> tuple[SSAValue, ...]:
    """The arrays that items' numbers may be elements of: a function's arguments, then what its host calls give."""
    calls = [op for op in func.body.block.ops if isinstance(op, CallOp)]
    return (*func.body.block.args, *(output for op in calls for output in op.outputs))


class ItemReader:
    """Reads values of one loop as numbers of items; ``items`` are the ranges over items that it has met."""

    def __init__(self, func: FuncOp):
        self.items: set[SSAValue] = set()
        written = {root(value) for value in accessed(func, MemoryEffectKind.WRITE)}
        self._arrays = {value: n for n, value in enumerate(host_arrays(func)) if value not in written}

    def number(self, value: SSAValue | int) -> ItemNumber:
        """A tile of one number an item, an ``index`` or an ``int``; casts are taken to keep it. Raises `Unknown`."""
        if isinstance(value, int):
            return ItemNumber(value)
        const, terms = _sum(value)
        total = ItemNumber(const)
        for atom, factor in terms:
            total += self._atom(atom).times(factor)
        return total

    def shift(self, range: SSAValue) -> ItemNumber:
        """What shifts add to a range."""
        total = ItemNumber()
        while isinstance(range.owner, ShiftOp):
            total += self.number(range.owner.offset)
            range = range.owner.range
        return total

    def _atom(self, atom: SSAValue) -> ItemNumber:
        if isinstance(atom.owner, ExtractOp | CastOp):
            return self.number(atom.owner.input)
        if not isinstance(atom.owner, LoadOp) or atom.owner.mask is not None or len(atom.owner.entries) != 1:
            raise Unknown
        array, moved = self._array(atom.owner.memory)
        shift = self._place(atom.owner.entries[0]) + moved
        number = self._arrays[array]
        return ItemNumber(0, ((Element(number, array.name_hint or f"array {number}", shift), 1),))

    def _array(self, memory: SSAValue) -> tuple[SSAValue, int]:
        """The array that a memref is, or is a slice of, and where in it the slice starts."""
        moved = 0
        for view in view_chain(memory):
            if not isinstance(view, SliceOp) or len(view.bounds) != 1 or view.bounds[0][2] != 1:
                raise Unknown
            moved += view.bounds[0][0]
        array = root(memory)
        if array not in self._arrays:
            raise Unknown
        return array, moved

    def _place(self, entry: object) -> int:
        """How far an index is from the item's number."""
        if not isinstance(entry, SSAValue):
            raise Unknown
        if isinstance(entry.type, RangeType):
            self.items.add(unshifted(entry))
            shift = self.shift(entry)
            if shift.terms:
                raise Unknown
            return shift.const
        form = linear(entry) if entry.type == IndexType() else None
        if form is None or len(form.terms) != 1:
            raise Unknown
        ((item, factor),) = form.terms
        bound = binding(item) if isinstance(item.type, RangeType) else None
        if bound is None or factor != 1 or bound.size != 1 or not isinstance(bound.lower, int):
            raise Unknown
        self.items.add(item)
        return form.const - bound.lower


def _sum(value: SSAValue) -> tuple[int, list[tuple[SSAValue, int]]]:
    if value.type == IndexType():
        form = linear(value)
        return form.const, list(form.terms)
    lanes = lane_sum(value)
    return lanes.const, [(atom, factor) for (atom, _), factor in lanes.terms.items()]
