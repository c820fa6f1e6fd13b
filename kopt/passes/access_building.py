"""What an access becomes, and what is put in its place."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.scope import ancestors
from kopt.dialects.builder import Builder
from kopt.dialects.tile import DimAttr, ExtentOp, FullOp, GridOp, LoadOp, SplatOp, TakeAlongOp, literal, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.open_extents import OpenExtent


def clamped(build: Builder, index: SSAValue, extent: int) -> SSAValue:
    """Row numbers as i32 inside an array: what lanes outside their range hold may be anything."""
    numbers = build.cast(index, i32)
    return build.with_number("maximum", build.compute("minimum", numbers, _last(build, extent, numbers)), 0)


def _last(build: Builder, extent: int, like: SSAValue) -> SSAValue:
    """The number of the last row in the shape of numbers; of an open extent, which the launch asks for, computed."""
    if not isinstance(extent, OpenExtent):
        return build.full(extent - 1, like)
    if extent.source is not None:
        extent.needed()
    grid = next(op for op in ancestors(build.op) if isinstance(op, GridOp))
    value = build.insert(ExtentOp(extent), InsertPoint.before(grid)).result
    last = build.add(arith.SubiOp(value, build.index(1)), "last")
    return build.add(SplatOp(last, tile_type(like)))


def pick(build: Builder, value: SSAValue, dim: int, index: SSAValue, at: int) -> SSAValue:
    """One lane of dimension ``dim`` for each gathered place; the dimension disappears.

    The dimensions of ``index`` are dimensions ``at``, ``at + 1``, … of the value.
    """
    dims = list(tile_type(value).dims.data)
    others = [*dims[:dim], *dims[dim + 1 :]]
    wide = build.spread(index, [*dims[:dim], DimAttr(1), *dims[dim + 1 :]], range(at, at + tile_type(index).rank))
    return build.reshape(build.add(TakeAlongOp(value, wide, dim)), others)


def replace_load(load: LoadOp, value: SSAValue) -> None:
    """Puts a block in a load's place; masked lanes take the load's ``other``."""
    if load.mask is not None:
        build = Builder(load)
        other = build.add(FullOp(load.other or literal(0, tile_type(value).element_type), tile_type(value)))
        value = build.select(load.mask, value, other)
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)


def with_entries(load: LoadOp, entries: Sequence[Entry], memory: SSAValue | None = None) -> LoadOp:
    """Puts the load of the same block by another index list, maybe of another array, in a load's place."""
    found = LoadOp(memory or load.memory, entries, load.mask, load.other, load.pad, load.attributes)
    found.location, found.result.name_hint = load.location, load.result.name_hint
    Rewriter.replace_op(load, found)
    return found
