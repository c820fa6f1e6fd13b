"""Gathering index lists as slices: which entries number rows that follow one another, for each item from its start.

An index tile is a sum of lanes (`kopt.analysis.lane_sums`). Of flat storage it is taken apart by the strides of the
array behind it: ``20 · starts + 20 · k + m`` of rows of 20 is row ``starts + k``, element ``m``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.lane_sums import LaneSum, Placed
from kopt.analysis.ranges import binding
from kopt.diagnostics import location_of
from kopt.dialects.tile import Access, ArangeOp, BeginOp, DimAttr, RangeType, TileType
from kopt.dialects.tile.memory import memory_shape

#: Numbers that are known now: a range of Python.
Lanes = range


class NotSlices(Exception):
    """Why an index list is no list of slices, in words."""


@dataclass(frozen=True)
class Part:
    """One entry: the lanes of ``range`` along dimension ``dim`` of the index tile, and what is added to them.

    Without a range it is one number, the same for all lanes, or numbers that are known now, ``lanes``. With ``dims``,
    the items' dimensions that what is added stands along, it is a row number for each item.
    """

    added: LaneSum
    range: SSAValue | None = None
    dim: int | None = None
    lanes: Lanes | None = None

    @property
    def dims(self) -> tuple[int, ...]:
        """The dimensions of the items."""
        return tuple(sorted({dim for (_, dims) in self.added.terms for dim in dims}))

    @property
    def along(self) -> DimAttr | None:
        """The dimension, tag and size, that its lanes make."""
        if self.lanes is not None:
            return DimAttr(len(self.lanes))
        if self.range is None:
            return None
        assert isinstance(self.range.type, RangeType)
        return self.range.type.dim


def part_of(form: LaneSum) -> Part:
    """A sum of lanes as one entry. Raises `NotSlices`."""
    ranges = {placed: c for placed, c in form.terms.items() if is_range(placed)}
    if not ranges:
        tiles = [atom for atom, dims in form.terms if dims]
        if len(form.terms) == 1 and (part := _static(form)) is not None:
            return part
        if tiles:
            raise NotSlices(f"{named(max(tiles, key=_depth))} picks rows one by one")
        return Part(form)
    if len(ranges) > 1:
        raise NotSlices(f"{' and '.join(named(range) for range, _ in ranges)} number one dimension together")
    ((range, dims), coefficient) = next(iter(ranges.items()))
    if coefficient != 1:
        raise NotSlices(f"{named(range)} goes in steps of {coefficient}")
    part = Part(form - LaneSum(0, ranges), range, dims[0])
    if dims[0] in part.dims:
        raise NotSlices(f"rows differ from lane to lane of {named(range)}")
    return part


def _static(form: LaneSum) -> Part | None:
    """A sum of a number and of lane numbers that are known now."""
    (((atom, dims), coefficient),) = form.terms.items()
    if not isinstance(op := atom.owner, ArangeOp) or coefficient != 1 or op.step.data != 1:
        return None
    assert isinstance(op.result.type, TileType)
    first = form.const + op.start.data
    return Part(LaneSum(), None, dims[0], Lanes(first, first + op.result.type.shape[0]))


def digits(form: LaneSum, shape: Sequence[int], user: Operation) -> list[Part]:
    """A flat element number of a contiguous array as one entry for each dimension, at ``user``. Raises `NotSlices`."""
    strides = [math.prod(shape[n + 1 :]) for n in range(len(shape))]
    sums = [LaneSum() for _ in shape]
    for placed, coefficient in form.terms.items():
        place = _digit(placed, coefficient, shape, strides)
        sums[place] = sums[place] + LaneSum(0, {placed: coefficient // strides[place]})
    rest = form.const
    for place, stride in enumerate(strides):
        sums[place] = sums[place] + LaneSum(rest // stride)
        rest %= stride
    parts = [part_of(one) for one in sums]
    for part, extent in zip(parts[1:], shape[1:], strict=True):
        check_inside(part, extent, user)
    return parts


def inferred_shape(form: LaneSum, extent: int) -> list[int]:
    """The rows of flat storage that the coefficients of a sum speak of. Raises `NotSlices`."""
    strides = sorted({abs(c) for c in form.terms.values()} | {1}, reverse=True)
    sizes = [extent, *strides]
    if any(high % low for high, low in zip(sizes, sizes[1:], strict=False)):
        raise NotSlices(f"{extent} elements are no whole number of rows of {strides[0]}")
    return [high // low for high, low in zip(sizes, sizes[1:], strict=False)]


def is_range(placed: Placed) -> bool:
    """Whether an atom is the lanes of a range."""
    return isinstance(placed[0].type, RangeType)


def named(value: SSAValue) -> str:
    """A value in words: its name, and where it is computed."""
    name = f"'{value.name_hint}'" if value.name_hint else "what is computed"
    place = location_of(value.owner) if isinstance(value.owner, Operation) else None
    if place is None:
        return name
    return f"{name} at line {place.line}, column {place.col},"


def _depth(value: SSAValue) -> int:
    """How many operations a value is computed inside of: what changes in the innermost loop has the most."""
    depth, parent = 0, value.owner.parent_op()
    while parent is not None:
        depth, parent = depth + 1, parent.parent_op()
    return depth


def _digit(placed: Placed, coefficient: int, shape: Sequence[int], strides: Sequence[int]) -> int:
    """The first dimension whose stride divides a coefficient; one of a single element for a range of one."""
    if is_range(placed) and _is_single(placed[0]):
        for n in range(1, len(shape)):
            if shape[n] == 1 and strides[n] == coefficient:
                return n
    return next(n for n, stride in enumerate(strides) if coefficient % stride == 0)


def _is_single(lanes: SSAValue) -> bool:
    bound = binding(lanes)
    return (bound.lower, bound.upper) == (0, 1)


def check_inside(part: Part, extent: int, user: Operation) -> None:
    """An inner digit must be known to stay inside its dimension, or it would carry."""
    low, high = _interval(part, user)
    if low is None or high is None or low < 0 or high >= extent:
        what = part.range if part.range is not None else next(iter(part.added.terms), (None,))[0]
        raise NotSlices(f"{named(what) if what is not None else 'a number'} is not known to stay below {extent}")


def _interval(part: Part, user: Operation) -> tuple[int | None, int | None]:
    if part.lanes is not None:
        return part.lanes[0], part.lanes[-1]
    low = high = part.added.const
    for (atom, dims), coefficient in part.added.terms.items():
        most = _most(atom)
        if dims or coefficient < 0 or most is None:
            return None, None
        high += coefficient * most
    if part.range is None:
        return low, high
    bound = binding(part.range)
    upper = bound.upper if isinstance(bound.upper, int) else extent_walked(part.range, user)
    if not isinstance(bound.lower, int) or upper is None:
        return None, None
    return low + bound.lower, high + upper - 1


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


def _most(number: SSAValue) -> int | None:
    """The largest value of a block's begin, where it is known (and then it is not negative)."""
    if not isinstance(number.owner, BeginOp):
        return None
    bound = binding(number.owner.range)
    shifted = bound.value is not number.owner.range
    if shifted or not isinstance(bound.upper, int) or not isinstance(bound.lower, int):
        return None
    return bound.upper - 1 if bound.lower >= 0 else None
