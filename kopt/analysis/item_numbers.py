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
from kopt.analysis.visits import NotStatic, depends_on
from kopt.dialects.host import CallOp, SliceOp
from kopt.dialects.tile import LoadOp, RangeType, ShiftOp
from kopt.ir.atoms import Atom, Symbol, Wrap
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding, unshifted


@dataclass(frozen=True, order=True)
class ItemElement:
    """For item ``i``, element ``i + shift`` of an array of one dimension: of number ``array`` of `host_arrays`."""

    array: int
    name: str
    shift: int


@dataclass(frozen=True)
class ItemNumber:
    """``const`` plus the ``terms``, in the order of their elements, none with factor 0."""

    const: int = 0
    terms: tuple[tuple[ItemElement, int], ...] = ()

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
        self._analysis = IndexAnalysis()
        written = {root(value) for value in accessed(func, MemoryEffectKind.WRITE)}
        self._arrays = {value: n for n, value in enumerate(host_arrays(func)) if value not in written}

    def number(self, value: SSAValue | int) -> ItemNumber:
        """A tile of one number an item, an ``index`` or an ``int``; casts are taken to keep it. Raises `Unknown`."""
        return self._sum(self._analysis.expr(value))

    def shift(self, range: SSAValue) -> ItemNumber:
        """What shifts add to a range."""
        total = ItemNumber()
        while isinstance(range.owner, ShiftOp):
            total += self.number(range.owner.offset)
            range = range.owner.range
        return total

    def _sum(self, form: IndexExpr) -> ItemNumber:
        if not isinstance(form.const, int):
            raise Unknown
        total = ItemNumber(form.const)
        for atom, factor in form.terms.items():
            if not isinstance(factor, int):
                raise Unknown
            total += self._atom(atom).times(factor)
        return total

    def _atom(self, atom: Atom) -> ItemNumber:
        if isinstance(atom, Wrap):
            return self._sum(atom.inner)
        load = atom.name.owner if isinstance(atom, Symbol) and isinstance(atom.name, SSAValue) else None
        if not isinstance(load, LoadOp) or load.mask is not None or len(load.entries) != 1:
            raise Unknown
        array, moved = self._array(load.memory)
        shift = self._place(load.entries[0]) + moved
        number = self._arrays[array]
        return ItemNumber(0, ((ItemElement(number, array.name_hint or f"array {number}", shift), 1),))

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
        item = _item(entry)
        shift = (self._analysis.expr(entry) - self._analysis.begin(item)).number
        if shift is None or binding(item).size != 1 or not isinstance(binding(item).lower, int):
            raise Unknown
        self.items.add(item)
        return shift


def _item(index: SSAValue) -> SSAValue:
    """The one range whose visits an index moves with."""
    try:
        found = list(depends_on(index)) if index.type == IndexType() else []
    except NotStatic:
        raise Unknown from None
    if len(found) != 1:
        raise Unknown
    return found[0]
