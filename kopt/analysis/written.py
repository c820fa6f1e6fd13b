"""Which elements one store writes over a whole grid, as boxes.

Pure. Dimensions whose indices move with different loops are looked at apart: what the store writes is every
combination of their parts. A part is found by affine reasoning where one dimension alone moves with its loops (a range
walked whole, blocks that join without gaps: `_interval`), else by going through the visits (`kopt.analysis.visits`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation, SSAValue

from kopt.analysis.boxes import Boxes
from kopt.analysis.visits import NotStatic, Visits, depends_on, visits
from kopt.dialects.tile import (
    ForOp,
    GridOp,
    IndexOp,
    RangeType,
    SliceAttr,
    StoreOp,
    TileType,
    WhenOp,
    array_type,
    is_gather,
)
from kopt.dialects.tile.index_list import AllAttr, Entry
from kopt.ir.atoms import Atom, BlockNumber
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import Binding, always_full, binding, unshifted, walked_in_place, walked_range


class Unsure(Exception):
    """Why it is not known what a store writes: a sentence fragment that begins with a verb."""


@dataclass(frozen=True)
class WrittenPart:
    """What a store writes along some dimensions; ``again`` where it may write an element more than once."""

    dims: tuple[int, ...]
    boxes: Boxes
    again: bool = False


@dataclass(frozen=True)
class Written:
    """What a store writes: every combination of its parts' boxes, all of it more than once where ``again``."""

    store: StoreOp
    parts: tuple[WrittenPart, ...]
    again: bool = False

    def part_of(self, dim: int) -> WrittenPart:
        """The part that a dimension belongs to."""
        return next(part for part in self.parts if dim in part.dims)


def written_by(store: StoreOp, within: Operation, analysis: IndexAnalysis) -> Written:
    """What a store inside a grid or launch writes in the course of it. Raises `Unsure` with the reason."""
    if store.mask is not None:
        raise Unsure("is masked")
    return _Analysis(store, _surroundings(store, within), analysis).run()


@dataclass
class Surroundings:
    """The loops around an op, outermost first, and which of their visits alone execute it."""

    loops: list[SSAValue] = field(default_factory=list)
    guards: dict[SSAValue, list[str]] = field(default_factory=dict)


def _surroundings(store: StoreOp, within: Operation) -> Surroundings:
    found = Surroundings()
    op = store.parent_op()
    while op is not None and op is not within.parent_op():
        if isinstance(op, GridOp):
            found.loops[:0] = op.ranges
        elif isinstance(op, ForOp):
            found.loops.insert(0, op.range)
        elif isinstance(op, WhenOp):
            for range in op.ranges:
                found.guards.setdefault(unshifted(range), []).append(op.visit.data)
        elif op is not within:
            raise Unsure("is under a condition")
        op = op.parent_op()
    return found


class _Analysis:
    def __init__(self, store: StoreOp, around: Surroundings, analysis: IndexAnalysis):
        self.store = store
        self.around, self.analysis = around, analysis
        self.shape = array_type(store.memory).get_shape()
        self.entries = [_as_range(entry, store.entries) for entry in store.entries]

    def run(self) -> Written:
        moves = [self._moves_with(entry) for entry in self.entries]
        groups = _groups(moves)
        used = frozenset[SSAValue]().union(*moves)
        idle = [range for range in self.around.loops if range not in used]
        again = [self._repeats(range) for range in idle]
        parts = [self._part(dims, loops) for dims, loops in groups]
        return Written(self.store, tuple(parts), any(again))

    def _moves_with(self, entry: Entry) -> frozenset[SSAValue]:
        if not isinstance(entry, SSAValue):
            return frozenset()
        if isinstance(entry.type, TileType):
            raise Unsure("writes rows picked by computed numbers")
        try:
            return depends_on(entry)
        except NotStatic:
            raise Unsure("is indexed by what is only known when running") from None

    def _repeats(self, range: SSAValue) -> bool:
        """Whether a loop that no index moves with runs the store more than once; raises where it may not run it."""
        bound = binding(range)
        trips = bound.trips
        if trips is None:
            outer = walked_range(bound)
            if outer is None:
                raise Unsure("is in a loop that may have no visits")
            trips = -(-binding(outer).size // bound.size)
        if trips < 1:
            raise Unsure("is in a loop of no visits")
        guards = set(self.around.guards.get(range, ()))
        if len(guards) > 1 and trips > 1:
            raise Unsure("is in visits that cannot be first and last")
        return trips > 1 and not guards

    def _part(self, dims: tuple[int, ...], loops: frozenset[SSAValue]) -> WrittenPart:
        if len(dims) == 1 and loops <= _counted(self.entries[dims[0]], self.analysis) - self.around.guards.keys():
            interval = _interval(self.entries[dims[0]], self.shape[dims[0]], self.analysis)
            if interval is not None:
                return WrittenPart(dims, Boxes.of(interval.bounds), interval.again)
        try:
            found = visits([range for range in self.around.loops if range in loops], self.around.guards)
            return WrittenPart(
                dims, _boxes([self.entries[dim] for dim in dims], [self.shape[dim] for dim in dims], found)
            )
        except NotStatic:
            raise Unsure("has more blocks than are followed one by one") from None


def _as_range(entry: Entry, entries: Sequence[Entry]) -> Entry:
    """The lane numbers of a range, as the only computed index, are that range."""
    if isinstance(entry, SSAValue) and isinstance(entry.owner, IndexOp) and sum(map(is_gather, entries)) == 1:
        return entry.owner.range
    return entry


def _groups(moves: Sequence[frozenset[SSAValue]]) -> list[tuple[tuple[int, ...], frozenset[SSAValue]]]:
    """The dimensions in groups that share no loop, each with its loops."""
    groups: list[tuple[tuple[int, ...], frozenset[SSAValue]]] = []
    for dim, loops in enumerate(moves):
        linked = [group for group in groups if group[1] & loops]
        groups = [group for group in groups if group not in linked]
        dims = sorted([dim, *(other for group in linked for other in group[0])])
        groups.append((tuple(dims), loops.union(*(group[1] for group in linked))))
    return groups


# One dimension by affine reasoning.


def _counted(entry: Entry, analysis: IndexAnalysis) -> set[SSAValue]:
    """The ranges whose block numbers an index is a sum of, and those that have but one block."""
    if not isinstance(entry, SSAValue):
        return set()
    atoms = analysis.first(entry).terms
    counted = {atom.name for atom in atoms if isinstance(atom, BlockNumber) and isinstance(atom.name, SSAValue)}
    return counted | {range for range in depends_on(entry) if analysis.number(range).number is not None}


@dataclass(frozen=True)
class Interval:
    """Consecutive elements, all written; ``again`` where some are written more than once."""

    bounds: tuple[int, int]
    again: bool = False


def _interval(entry: Entry, extent: int, analysis: IndexAnalysis) -> Interval | None:
    """The elements that an entry takes in the course of its loops, where they are known to be consecutive."""
    if isinstance(entry, AllAttr):
        return Interval((0, extent))
    if isinstance(entry, SliceAttr):
        return Interval((entry.start.data, entry.start.data + entry.length)) if entry.step.data == 1 else None
    if isinstance(entry, int):
        return Interval((entry, entry + 1))
    if not isinstance(entry.type, RangeType):
        return _blocks(analysis.expr(entry), 1)
    start = analysis.begin(entry)
    offset = (start - analysis.begin(unshifted(entry))).number
    walked = _walked(binding(entry))
    if walked is not None and offset is not None:
        return Interval((walked[0] + offset, walked[1] + offset))
    return _blocks(start, binding(entry).size) if always_full(entry) else None


def _walked(bound: Binding) -> tuple[int, int] | None:
    """The elements that a range walks in all, through loops over blocks of outer ranges."""
    outer = walked_in_place(bound)
    if outer is not None:
        return _walked(binding(outer))
    return (bound.lower, bound.upper) if isinstance(bound.lower, int) and isinstance(bound.upper, int) else None


def _blocks(start: IndexExpr, lanes: int) -> Interval | None:
    """Blocks that start at ``const + Σ coefficient · number``, joined: each number repeats what those before it span.

    Steps in order of size must not be longer than what the smaller ones span, or there are gaps.
    """
    first, span, again = start.const, lanes, False
    steps = {atom: factor for atom, factor in start.terms.items() if isinstance(factor, int)}
    if not isinstance(first, int) or len(steps) < len(start.terms):
        return None
    for atom, step in sorted(steps.items(), key=lambda term: abs(term[1])):
        trips = _trips(atom)
        if trips is None or trips < 1 or (trips > 1 and abs(step) > span):
            return None
        again |= trips > 1 and abs(step) < span
        first += min(0, step) * (trips - 1)
        span += abs(step) * (trips - 1)
    return Interval((first, first + span), again)


def _trips(atom: Atom) -> int | None:
    """The visits of the loop whose blocks an atom numbers, where every one of them happens."""
    if not isinstance(atom, BlockNumber) or not isinstance(atom.name, SSAValue):
        return None
    bound = binding(atom.name)
    if bound.trips is not None:
        return bound.trips
    outer = walked_range(bound)
    full = outer is not None and always_full(outer) and binding(outer).size % bound.size == 0
    return binding(outer).size // bound.size if outer is not None and full else None


# Any dimensions, visit by visit.


def _boxes(entries: Sequence[Entry], extents: Sequence[int], found: Visits) -> Boxes:
    """What entries take at each visit: a box a visit; a slice, which moves with no loop, has one for each element."""
    bounds = [_bounds(entry, extent, found) for entry, extent in zip(entries, extents, strict=True)]
    return Boxes(*(np.stack(ends, axis=1) for ends in zip(*bounds, strict=True)))


def _bounds(entry: Entry, extent: int, found: Visits) -> tuple[np.ndarray, np.ndarray]:
    """First and one past the last element of the intervals of one entry."""
    if isinstance(entry, AllAttr):
        return found.value(0), found.value(extent)
    if isinstance(entry, SliceAttr):
        rows = np.arange(entry.start.data, entry.stop.data, entry.step.data)
        return rows, rows + 1
    if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType):
        return found.begin(entry), found.end(entry)
    rows = found.value(entry)
    return rows, rows + 1
