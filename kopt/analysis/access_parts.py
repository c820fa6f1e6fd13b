"""What has to run to know where a function's accesses go: the part that is known at import, and the part that is not.

Pure. Accesses that are known to stay inside are in neither, nor are arrays whose elements no two cells share: of most
functions nothing is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import filterfalse
from math import prod
from operator import or_

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.index_slice import IndexSlice, IndexSlicer, writers
from kopt.analysis.inside import doubtful, doubtful_picks
from kopt.analysis.shared_elements import accesses_of, shared_arrays
from kopt.dialects.tile import Access, LoadOp, StoreOp, TakeAlongOp, array_type, is_range


@dataclass(frozen=True)
class AccessPart:
    """A part of a function to run, and the arrays over which its cells may meet."""

    part: IndexSlice
    watched: frozenset[SSAValue] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.part.located or self.part.run)


def visible_part(func: FuncOp, most: int) -> AccessPart:
    """The accesses of which the arguments' shapes alone tell where they go; indices that data tell are assumed.

    Arrays of more than ``most`` elements are not watched.
    """
    parts = _Parts(func)
    found = [parts.visible(op) for op in doubtful(func)]
    found += [parts.picked(op) for op in doubtful_picks(func) if parts.is_fixed(op)]
    shared = frozenset(memory for memory in shared_arrays(func) if prod(_shape(memory)) <= most)
    found += [parts.visible_sharing(accesses_of(func, memory)) for memory in shared]
    return AccessPart(reduce(or_, found, IndexSlice()), shared)


def fixed_part(func: FuncOp) -> AccessPart:
    """The accesses that go to the same places whatever the arguments hold."""
    parts = _Parts(func)
    slicer = parts.slicer()
    for op in filter(parts.is_fixed, doubtful(func)):
        slicer.locate(op)
    for op in filter(parts.is_fixed, doubtful_picks(func)):
        slicer.pick(op)
    return AccessPart(slicer.result())


def computed_part(func: FuncOp) -> AccessPart:
    """The accesses whose places follow from what the arguments hold, and all that cells do to arrays they share."""
    parts = _Parts(func)
    slicer = parts.slicer()
    for op in filterfalse(parts.is_fixed, doubtful(func)):
        slicer.locate(op)
    for op in filterfalse(parts.is_fixed, doubtful_picks(func)):
        slicer.pick(op)
    shared = shared_arrays(func)
    for op in [op for memory in shared for op in accesses_of(func, memory)]:
        slicer.locate(op) if isinstance(op, LoadOp) else slicer.execute(op)
    return AccessPart(slicer.result(), shared)


class _Parts:
    """Slices of one function."""

    def __init__(self, func: FuncOp):
        self._writers = writers(func)

    def slicer(self) -> IndexSlicer:
        return IndexSlicer(self._writers)

    def visible(self, op: Access) -> IndexSlice:
        """Where an access goes, as far as shapes tell; nothing where they do not even tell whether it happens."""
        computed = [index for index in op.indices if self._needs_data(index, op)]
        slicer = self.slicer()
        slicer.locate(op, computed)
        found = slicer.result()
        return IndexSlice() if found.held or any(map(is_range, computed)) else found

    def visible_sharing(self, ops: Sequence[Access]) -> IndexSlice:
        """Accesses to one array whose places are fixed; stores with their values, where those of all are fixed too."""
        known = all(isinstance(op, LoadOp) or self._is_known(op) for op in ops)
        slicer = self.slicer()
        for op in filter(self.is_fixed, ops):
            slicer.store(op) if known and isinstance(op, StoreOp) else slicer.locate(op)
        return slicer.result()

    def picked(self, op: TakeAlongOp) -> IndexSlice:
        """Which lanes of a block are picked."""
        slicer = self.slicer()
        slicer.pick(op)
        return slicer.result()

    def is_fixed(self, op: Access | TakeAlongOp) -> bool:
        """Whether no data tell where an access goes, for which lanes, and whether it happens."""
        if isinstance(op, TakeAlongOp):
            return not self.picked(op).held
        slicer = self.slicer()
        slicer.locate(op)
        return not slicer.result().held

    def _is_known(self, op: Access) -> bool:
        return isinstance(op, StoreOp) and self.is_fixed(op) and not self._needs_data(op.value, op)

    def _needs_data(self, value: SSAValue, user: Operation) -> bool:
        slicer = self.slicer()
        slicer.value(value, user)
        return bool(slicer.result().held)


def _shape(memory: SSAValue) -> tuple[int, ...]:
    return array_type(memory).get_shape()
