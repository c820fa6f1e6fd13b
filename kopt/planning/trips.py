"""How many blocks each axis of a launch has, at given sizes: exactly, also where an inner range depends on an outer.

Sizes are numbers, or NumPy arrays with one number for each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kopt.cached_property import cached_property
from kopt.ir.atoms import BlockNumber, Lane
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import Axis, LaunchModel
from kopt.ir.polynomial import Coefficient, Parameter, parameters
from kopt.ir.rewriting import Rewriting
from kopt.planning.extents import told_extent

#: A number, or an array with one for each candidate.
Number = Any
Sizes = Mapping[Hashable, Number]
_T = TypeVar("_T")


def max_of(numbers: Iterable[Number]) -> Number:
    """The largest of some numbers, candidate by candidate; 0 of none."""
    total: Number = 0
    for number in numbers:
        total = max(total, number) if isinstance(number, int) and isinstance(total, int) else np.maximum(total, number)
    return total


class UnknownError(Exception):
    """A number that only a launch tells; the message names it."""


def or_none(known: Callable[[], _T]) -> _T | None:
    """What is asked for, or None where only a launch tells it."""
    try:
        return known()
    except UnknownError:
        return None


@dataclass(frozen=True)
class Trips:
    """The blocks of an axis: ``mean`` for each execution of what is around it, over the exact list of these.

    ``some`` is the share of executions that have any, ``many`` that of those with two or more, of which ``inside`` the
    axes are that the list goes over.
    """

    mean: Number
    some: Number = 1.0
    many: Number = 1.0
    inside: frozenset[str] = frozenset()

    @cached_property
    def moves(self) -> Number:
        """Whether its block ever changes."""
        return np.asarray(self.many) > 0


class AllTrips(dict[str, Trips]):
    """Trips by tag; to ask for those that only a launch tells is an `UnknownError`."""

    def __missing__(self, tag: str) -> Trips:
        raise UnknownError(tag)

    def moves(self, tag: str) -> Number:
        """Whether an axis has more than one block; one of which nothing is known may have."""
        return self[tag].moves if tag in self else np.asarray(True)


def value(coefficient: Coefficient, sizes: Sizes) -> Number:
    """A coefficient at some sizes."""
    if isinstance(coefficient, int):
        return coefficient
    total: Number = 0
    for monomial, factor in coefficient.terms.items():
        for parameter, power in monomial:
            if parameter.name not in sizes:
                raise UnknownError(f"{parameter.name}")
            factor = factor * sizes[parameter.name] ** power
        total = total + factor
    return total


def all_trips(model: LaunchModel, sizes: Sizes, lengths: Mapping[str, Sequence[int]]) -> AllTrips:
    """The trips of every axis by its tag; ``lengths`` are the extents of jagged axes, one an item."""
    found = AllTrips()
    for axis in model.axes:
        with suppress(UnknownError):
            found[axis.tag] = _trips(axis, model, sizes, lengths, found)
    return found


def _trips(
    axis: Axis, model: LaunchModel, sizes: Sizes, lengths: Mapping[str, Sequence[int]], found: Mapping[str, Trips]
) -> Trips:
    size = value(axis.size, sizes)
    if axis.tag in lengths:
        return _listed(np.asarray(lengths[axis.tag]), size, frozenset(axis.path))
    extent = told_extent(axis)
    if extent.is_constant:
        return _regular(_blocks(value(extent.const, sizes), size))
    return _dependent(axis, extent, sizes, found)


def _blocks(extent: Number, size: Number) -> Number:
    return np.maximum(0, -(-extent // size))


def _regular(count: Number) -> Trips:
    return Trips(count, np.asarray(count > 0, float), np.asarray(count > 1, float))


def _listed(extents: np.ndarray, size: Number, inside: frozenset[str]) -> Trips:
    """The trips of a list of extents."""
    counts = _blocks(extents.reshape(-1), np.asarray(size)[..., None])
    some = (counts > 0).mean(-1)
    return Trips(counts.mean(-1), some, (counts > 1).mean(-1) / np.maximum(some, 1e-30), inside)


def _dependent(axis: Axis, extent: IndexExpr, sizes: Sizes, found: Mapping[str, Trips]) -> Trips:
    """The trips of a range whose bounds are made of the numbers of outer blocks: for each of those."""
    outer = {str(atom.name): atom.name for atom in extent.atoms() if isinstance(atom, BlockNumber)}
    if not outer or not outer.keys() <= found.keys():
        raise UnknownError(axis.tag)
    used = parameters_of([extent], [axis.size])
    if missing := [name for name in used if name not in sizes]:
        raise UnknownError(f"{missing[0]}")
    columns = [*(sizes[name] for name in used), *(found[tag].mean for tag in outer)]
    mean, some, many = by_choice(
        columns, lambda row: _at_sizes(axis.size, extent, outer, dict(zip(used, row, strict=False)), row[len(used) :])
    )
    return Trips(mean, some, many, frozenset(outer))


def by_choice(columns: Sequence[Number], part: Callable[[Sequence[Number]], Sequence[Number]]) -> list[Number]:
    """The numbers that ``part`` makes of each candidate's row of ``columns``, once for rows that are equal."""
    columns = np.broadcast_arrays(*columns)
    rows, places = np.unique(np.stack([*map(np.ravel, columns)], -1), axis=0, return_inverse=True)
    return [np.reshape(np.array(one)[places], columns[0].shape) for one in zip(*map(part, rows), strict=True)]


def parameters_of(exprs: Iterable[IndexExpr], sizes: Iterable[Coefficient]) -> list[Hashable]:
    """The names of the block sizes that expressions and coefficients depend on."""
    parts = [part for expr in exprs for part in (expr, *(inner for atom in expr.atoms() for inner in atom.parts))]
    numbers = [number for part in parts for number in (part.const, *part.terms.values())]
    lanes = [atom.size for part in parts for atom in part.terms if isinstance(atom, BlockNumber | Lane)]
    found = frozenset[Parameter]().union(*map(parameters, (*sizes, *numbers, *lanes)))
    return sorted((one.name for one in found), key=str)


def _at_sizes(
    size: Coefficient,
    extent: IndexExpr,
    names: Mapping[str, Hashable],
    sizes: Mapping[Hashable, Number],
    counts: Sequence[Number],
) -> tuple[Number, Number, Number]:
    """The three numbers of `Trips` at sizes, where the outer axes, ``names`` of block numbers, have so many blocks."""
    grid = np.meshgrid(*(np.arange(int(np.ceil(count))) for count in counts))
    numbers = {name: part.reshape(-1) for name, part in zip(names.values(), grid, strict=True)}
    chosen = {name: int(size) for name, size in sizes.items()}
    chosen_extent = Rewriting(lambda atom: None, chosen).expr(extent)  # a tag names its sizes and its blocks
    try:
        extents = evaluate(chosen_extent, numbers)
    except KeyError as unknown:
        raise UnknownError(f"{unknown.args[0]}") from None
    trips = _listed(np.broadcast_to(extents, np.shape(grid[0].reshape(-1))), value(size, sizes), frozenset())
    return trips.mean, trips.some, trips.many
