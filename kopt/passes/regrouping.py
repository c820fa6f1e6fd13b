"""Lanes under other dimensions, and in parts, where Mosaic has no reshape for it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import SSAValue

from kopt.analysis.storage import is_narrow, wide
from kopt.dialects.builder import Builder
from kopt.dialects.tile import DimAttr, ReduceOp, SliceOp, TileType, element_of, neutral, tile_type
from kopt.dialects.tile.types import DimLike
from kopt.targets.tiling import LANES, SUBLANES


def regroup(build: Builder, value: SSAValue, dims: Sequence[DimLike]) -> SSAValue:
    """The same lanes under other dimensions. Mosaic merges and splits no lanes: they become rows of copies."""
    if tile_type(value).dims == TileType(dims, i32).dims:
        return value
    if element_of(value) == i1:
        return build.with_number("ne", regroup(build, build.cast(value, i32), dims), 0)
    before = tile_type(value)
    if before.rank > 1 and len(dims) > 1:
        return build.reshape(value, dims)
    if is_narrow(element_of(value)):
        return build.cast(regroup(build, build.cast(value, wide(element_of(value))), dims), element_of(value))
    shapes = [shape for shape in (before.shape, TileType(dims, i32).shape) if len(shape) > 1]
    if any(shape[-1] % SUBLANES for shape in shapes):
        return _regroup_parts(build, value, dims)
    rows = build.spread(value, [*before.dims.data, DimAttr(LANES)], range(before.rank))
    return build.add(ReduceOp("max", build.reshape(rows, [*dims, DimAttr(LANES)]), [len(dims)]))


def _regroup_parts(build: Builder, value: SSAValue, dims: Sequence[DimLike]) -> SSAValue:
    """Of rows that are no whole registers Mosaic regroups no copies: the value stands in the first lane alone."""
    all_dims = [*tile_type(value).dims.data, DimAttr(LANES)]
    rows = build.spread(value, all_dims, range(len(all_dims) - 1))
    first = build.with_number("eq", build.numbers(LANES, all_dims, len(all_dims) - 1), 0)
    rows = build.select(first, rows, build.full(neutral("max", element_of(value)), rows))
    return build.add(ReduceOp("max", build.reshape(rows, [*dims, DimAttr(LANES)]), [len(dims)]))


def in_parts(build: Builder, value: SSAValue, most: int) -> list[SSAValue]:
    """The rows of a tile of plain dimensions, as many together as have ``most`` lanes, one at least."""
    size, *others = tile_type(value).shape
    step = max(1, most // prod(others))
    if size <= step:
        return [value]
    zeros, ones = [0] * len(others), [1] * (len(others) + 1)
    starts = range(0, size, step)
    return [build.add(SliceOp(value, [n, *zeros], [min(step, size - n), *others], ones)) for n in starts]


def every(build: Builder, value: SSAValue, step: int, first: int) -> SSAValue:
    """Every ``step``-th lane of the last dimension, which is some steps long, and of 32 bits."""
    if step == 1:
        return value
    *outer, lanes = tile_type(value).dims.data
    value = build.reshape(value, [*outer, DimAttr(lanes.size.data // step), DimAttr(step)])
    return build.reshape(build.cut(value, first, first + 1), [*outer, DimAttr(lanes.size.data // step)])
