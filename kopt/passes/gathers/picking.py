"""Picks lanes by their numbers, and puts what comes of it in the place of a load."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.dialects.builder import Builder
from kopt.dialects.tile import BroadcastOp, FullOp, LoadOp, TakeAlongOp, TileType, literal, tile_type


def clamped(build: Builder, index: SSAValue, extent: int) -> SSAValue:
    """Row numbers as i32 inside an array: what lanes outside their range hold may be anything."""
    return build.with_number("maximum", build.with_number("minimum", build.cast(index, i32), extent - 1), 0)


def pick(build: Builder, value: SSAValue, dim: int, index: SSAValue, at: int) -> SSAValue:
    """One lane of dimension ``dim`` for each gathered place; the dimension disappears.

    The dimensions of ``index`` are dimensions ``at``, ``at + 1``, … of the value.
    """
    dims = list(tile_type(value).dims.data)
    places = range(at, at + tile_type(index).rank)
    lane = TileType([*dims[:dim], 1, *dims[dim + 1 :]], i32)
    wide = build.add(BroadcastOp(index, list(places), lane))
    return build.reshape(build.add(TakeAlongOp(value, wide, dim)), [*dims[:dim], *dims[dim + 1 :]])


def replace_load(load: LoadOp, value: SSAValue) -> None:
    """Puts a block in a load's place; masked lanes take the load's ``other``."""
    if load.mask is not None:
        build = Builder(load)
        other = build.add(FullOp(load.other or literal(0, tile_type(value).element_type), tile_type(value)))
        value = build.select(load.mask, value, other)
    value.name_hint = load.result.name_hint
    load.result.replace_all_uses_with(value)
    Rewriter.erase_op(load)
