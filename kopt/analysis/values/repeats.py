"""Lanes of a gather that have the same element as others, along a dimension or in groups of lanes of one. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd

from xdsl.ir import SSAValue

from kopt.analysis.values.places import comes_whole, flat_index, is_held, least_units, unit_of
from kopt.dialects.tile import LoadOp, array_type, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.ir.access_relation import settled
from kopt.ir.atoms import Lane
from kopt.ir.index_expr import IndexExpr, lane
from kopt.ir.nearness import near
from kopt.ir.rewriting import at_lanes
from kopt.ir.runs import repeated
from kopt.ir.sums import SumAnalysis

#: How many lanes of each dimension of some index tiles, one after the other, have the same elements: 1 where none do.
Groups = tuple[int, ...]


def repeats(load: LoadOp, sums: SumAnalysis) -> Groups | None:
    """The lanes of which one stands for all; None where there are none, or no less memory comes for them. None for a
    masked load too: its mask may differ where indices do not.
    """
    tiles = index_tiles(load.entries)
    if load.mask is not None or load.pad is not None or not tiles:
        return None
    shape = tile_type(next(iter(tiles.values()))).shape
    if not any(sums.expr(tile).along for tile in tiles.values()):
        return None  # one element, whose number is a sum
    extents = array_type(load.memory).get_shape()
    exact = {n: settled(sums.exact.expr(tile), extents[n]) for n, tile in tiles.items()}
    groups = tuple(_group(exact.values(), dim, size) for dim, size in enumerate(shape))
    if not any(1 < group < size for group, size in zip(groups, shape, strict=True)):
        return groups if any(group > 1 for group in groups) else None
    whole = tuple(group if group == size else 1 for group, size in zip(groups, shape, strict=True))
    if _pays(load, exact, groups, whole, sums):
        return groups
    return whole if any(group > 1 for group in whole) else None


def _group(exprs: Iterable[IndexExpr], dim: int, size: int) -> int:
    sizes = [repeated(expr, Lane(dim, size)) for expr in exprs] if size > 1 else [1]
    return gcd(*(group for group in sizes if isinstance(group, int)))


def _pays(load: LoadOp, exact: Mapping[int, IndexExpr], groups: Groups, whole: Groups, sums: SumAnalysis) -> bool:
    """Whether less memory comes for one lane of each group: fewer rows of a matrix, or of flat storage."""
    if (entry := flat_index(load)) is None:
        grouped = {dim for dim, group in enumerate(groups) if group != whole[dim]}
        return any(expr.along & grouped for n, expr in exact.items() if n < len(load.entries) - 1)

    def units(groups: Groups) -> int:
        shape = tile_type(entry).shape
        form, index = (first_of(expr, shape, groups) for expr in (sums.expr(entry), exact[0]))
        return least_units(index, form, few(shape, groups), unit_of(load))

    before, after = units(whole), units(groups)
    comes_once = near(exact[0]) is not None and is_held(load, after)
    return after < before and not comes_whole(load, before) and not comes_once


def few(shape: Sequence[int], groups: Groups) -> tuple[int, ...]:
    """A shape with one lane for each group."""
    return tuple(size // group for size, group in zip(shape, groups, strict=True))


def first_of(expr: IndexExpr, shape: Sequence[int], groups: Groups) -> IndexExpr:
    """An expression over a block of a shape at the first lane of each group, over a block of these."""
    counted = enumerate(zip(few(shape, groups), groups, strict=True))
    return at_lanes({dim: lane(dim, size) * group for dim, (size, group) in counted}).expr(expr)


def index_tiles(entries: Sequence[Entry]) -> dict[int, SSAValue]:
    """The index tiles of an index list, by position."""
    return {n: entry for n, entry in enumerate(entries) if is_gather(entry)}


def dims_apart(entries: Sequence[Entry], sums: SumAnalysis) -> Groups:
    """All lanes of the dimensions that no index tile differs along as one group each; 1 of others."""
    tiles = index_tiles(entries).values()
    along = frozenset[int]().union(*(sums.expr(tile).along for tile in tiles))
    shape = next((tile_type(tile).shape for tile in tiles), ())
    return tuple(1 if dim in along else size for dim, size in enumerate(shape))
