"""Gathering index lists as slices: which entries number rows that follow one another, for each item from its start.

An index tile is a sum of lanes (`kopt.ir.sums`). Of flat storage it is taken apart by the strides of the array behind
it: ``20 · starts + 20 · k + m`` of rows of 20 is row ``starts + k``, element ``m``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects.tile import Access, DimAttr, range_type
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.atoms import BlockNumber, Lane, Symbol
from kopt.ir.division import strides
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.sums import SumAnalysis, Term
from kopt.ir.value_range import ValueRange

#: Numbers that are known now: a range of Python.
Lanes = range


class NotSlices(Exception):
    """Why an index list is no list of slices, in words."""


@dataclass(frozen=True)
class SliceEntry:
    """One entry: the lanes of ``range`` along dimension ``dim`` of the index tile, and what is added to them.

    Without a range it is one number, the same for all lanes, or numbers that are known now, ``lanes``. With ``dims``,
    the items' dimensions that what is added stands along, it is a row number for each item.
    """

    added: IndexExpr
    range: SSAValue | None = None
    dim: int | None = None
    lanes: Lanes | None = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of the items."""
        return tuple(sorted(self.added.along))

    @property
    def along(self) -> DimAttr | None:
        """The dimension, tag and size, that its lanes make."""
        if self.lanes is not None:
            return DimAttr(len(self.lanes))
        if self.range is None:
            return None
        return range_type(self.range).dim


class Slicing:
    """The index tiles of one access, whose dimensions are ``dims``, taken apart."""

    def __init__(self, access: Operation, dims: Sequence[DimAttr], sums: SumAnalysis):
        self.access, self.dims, self.sums = access, dims, sums
        self._scope = ranges_in_scope(access)

    def terms(self, expr: IndexExpr) -> tuple[list[Term], int]:
        """What a sum is made of."""
        return self.sums.terms(expr, self.dims, self._scope)

    def part(self, expr: IndexExpr) -> SliceEntry:
        """A sum of lanes as one entry. Raises `NotSlices`."""
        terms, const = self.terms(expr)
        ranges = [term for term in terms if term.dim is not None]
        if not ranges:
            if len(terms) == 1 and (part := _static(terms[0], const)) is not None:
                return part
            if expr.along:
                tiles = [name for atom in expr.terms if (name := _name(atom)) is not None and atom.along]
                raise NotSlices(f"{named(max(tiles, key=_depth, default=None))} picks rows one by one")
            return SliceEntry(expr)
        if len(ranges) > 1:
            raise NotSlices(f"{' and '.join(named(one.range) for one in ranges)} number one dimension together")
        (one,) = ranges
        if one.factor != 1:
            raise NotSlices(f"{named(one.range)} goes in steps of {one.factor}")
        part = SliceEntry(expr - one.expr, one.range, one.dim)
        if one.dim in part.dims:
            raise NotSlices(f"rows differ from lane to lane of {named(one.range)}")
        return part

    def digits(self, expr: IndexExpr, shape: Sequence[int]) -> list[SliceEntry]:
        """A flat element number of a contiguous array as one entry for each dimension. Raises `NotSlices`."""
        pitches = [pitch for pitch in strides(shape) if isinstance(pitch, int)]
        terms, rest = self.terms(expr)
        sums = [ZERO for _ in shape]
        for term in terms:
            place = self._digit(term, shape, pitches)
            sums[place] = sums[place] + term.counted * (term.factor // pitches[place])
        for place, pitch in enumerate(pitches):
            sums[place] = sums[place] + rest // pitch
            rest %= pitch
        parts = [self.part(one) for one in sums]
        for part, extent in zip(parts[1:], shape[1:], strict=True):
            self.check_inside(part, extent)
        return parts

    def _digit(self, term: Term, shape: Sequence[int], pitches: Sequence[int]) -> int:
        """The first dimension whose stride divides a factor; one of a single element for a range of one."""
        if term.range is not None and ValueRange(0, 0).covers(self.reach(term.range)):
            for place in range(1, len(shape)):
                if shape[place] == 1 and pitches[place] == term.factor:
                    return place
        return next(place for place, pitch in enumerate(pitches) if term.factor % pitch == 0)

    def inferred_shape(self, expr: IndexExpr, extent: int) -> list[int]:
        """The rows of flat storage that the coefficients of a sum speak of. Raises `NotSlices`."""
        terms, _ = self.terms(expr)
        pitches = sorted({abs(term.factor) for term in terms} | {1}, reverse=True)
        sizes = [extent, *pitches]
        if any(high % low for high, low in zip(sizes, sizes[1:], strict=False)):
            raise NotSlices(f"{extent} elements are no whole number of rows of {pitches[0]}")
        return [high // low for high, low in zip(sizes, sizes[1:], strict=False)]

    def check_inside(self, part: SliceEntry, extent: int) -> None:
        """An inner digit must be known to stay inside its dimension, or it would carry."""
        if not ValueRange(0, extent - 1).covers(self._reach(part)):
            names = [name for atom in part.added.terms if (name := _name(atom)) is not None]
            what = part.range if part.range is not None else next(iter(names), None)
            raise NotSlices(f"{named(what) if what is not None else 'a number'} is not known to stay below {extent}")

    def _reach(self, part: SliceEntry) -> ValueRange:
        """What the lanes of an entry that are inside their range may be."""
        if part.lanes is not None:
            return ValueRange(part.lanes[0], part.lanes[-1])
        return part.added.range if part.range is None else part.added.range + self.reach(part.range)

    def reach(self, range: SSAValue) -> ValueRange:
        """What the lanes of a range may be that are inside it."""
        exact = self.sums.exact
        known, walked = exact.valid(range, 0).range_of(exact.lanes(range)), extent_walked(range, self.access)
        return known if walked is None else known.intersection(ValueRange(None, walked - 1))


def _static(term: Term, const: int) -> SliceEntry | None:
    """A sum of a number and of lane numbers, of some lanes, that are known now."""
    lane = term.counted.atom
    if not isinstance(lane, Lane) or term.factor != 1 or not isinstance(lane.size, int) or not lane.size:
        return None
    return SliceEntry(ZERO, None, lane.dim, Lanes(const, const + lane.size))


def named(value: SSAValue | None) -> str:
    """A value in words: its name, and where it is computed."""
    name = f"'{value.name_hint}'" if value is not None and value.name_hint else "what is computed"
    place = location_of(value.owner) if value is not None and isinstance(value.owner, Operation) else None
    if place is None:
        return name
    return f"{name} at line {place.line}, column {place.col},"


def _name(atom: object) -> SSAValue | None:
    name = atom.name if isinstance(atom, Symbol | BlockNumber) else None
    return name if isinstance(name, SSAValue) else None


def _depth(value: SSAValue) -> int:
    """How many operations a value is computed inside of: what changes in the innermost loop has the most."""
    depth, parent = 0, value.owner.parent_op()
    while parent is not None:
        depth, parent = depth + 1, parent.parent_op()
    return depth


def extent_walked(range: SSAValue, user: Operation) -> int | None:
    """What a range's lanes stay below at ``user``, as lanes beyond an array would be an error.

    That is the smallest dimension that an access without a mask indexes by them, whenever ``user`` runs.
    """
    extents: list[int] = []
    for use in range.uses:
        access = use.operation
        if isinstance(access, Access) and access.mask is None and _runs_with(access, user):
            shape = memory_shape(access.memory.type)
            extents += [extent for entry, extent in zip(access.entries, shape, strict=True) if entry is range]
    return min(extents, default=None)


def _runs_with(op: Operation, user: Operation) -> bool:
    """Whether an op is in a block around another one."""
    around: Operation | None = user
    while around is not None and around.parent is not op.parent:
        around = around.parent_op()
    return around is not None
