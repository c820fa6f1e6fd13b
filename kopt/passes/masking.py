"""Masks of lanes whose validity types no longer tell, at the ops that combine, store and read by them."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.lane_facts import tiles
from kopt.analysis.validity import LaneValidity
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    BroadcastOp,
    DimAttr,
    LoadOp,
    MaskOp,
    SelectOp,
    StoreOp,
    block_axes,
    element_of,
    is_float,
    literal,
    literal_value,
    tile_type,
)
from kopt.dialects.tile.memory import memory_shape
from kopt.ir.ranges import always_full

Number = float | int
Write = StoreOp | RmwOp | CasOp


def mask_hidden(user: Operation, number: int, dims: Sequence[int], fill: Number, validity: LaneValidity) -> None:
    """Selects the fill where a lane was made from lanes outside a range that its type no longer names."""
    value = user.operands[number]
    valid = validity.along(value, dims)
    if valid is None:
        return
    build = Builder(user)
    select = build.add(SelectOp(valid, value, build.full(fill, value)), value.name_hint)
    validity.settle(select, value)
    user.operands[number] = select


def drop_full_limits(mask: MaskOp) -> None:
    """Leaves out the limits that are ranges whose blocks are all full.

    Those of blocks that are no power of two stay where the tag goes: a GPU gives these further lanes.
    """
    type, limits, dims = tile_type(mask.result), list[SSAValue | None](), list[DimAttr]()
    for limit, before, after in zip(mask.limits, tile_type(mask.input).dims.data, type.dims.data, strict=True):
        needed = limit is not None and (not always_full(limit) or before != after and before.size.data.bit_count() > 1)
        limits.append(limit if needed else None)
        dims.append(before if needed else after)
    if limits == [*mask.limits]:
        return
    build = Builder(mask)
    value = build.reshape(mask.input, dims)
    if any(limits):
        value = build.add(MaskOp(value, limits, mask.fill, type))
    mask.result.name_hint = value.name_hint or mask.result.name_hint
    build.replace(value)


def mask_write(op: Write, validity: LaneValidity) -> None:
    """A store or update whose values or indices hide invalid lanes writes the valid ones only."""
    written = (op.expected, op.desired) if isinstance(op, CasOp) else (op.value,)
    masks = [*map(validity.of, written), *(_of_index(op, validity.of(index)) for index in tiles(op.indices))]
    _mask_access(op, masks, validity)


def mask_read(op: LoadOp, validity: LaneValidity) -> None:
    """A load by indices that hide invalid lanes reads by the valid ones only."""
    _mask_access(op, [_of_index(op, validity.of(index)) for index in tiles(op.indices)], validity)


def _mask_access(op: Write | LoadOp, masks: Sequence[SSAValue | None], validity: LaneValidity) -> None:
    found = list(dict.fromkeys(mask for mask in masks if mask is not None))
    if not found:
        return
    mask, *others = [*found, *([] if op.mask is None else [op.mask])]
    for other in others:
        mask = Builder(op).compute("and", mask, other)
    replacement = op.masked(mask)
    replacement.location = op.location
    for new, old in zip(replacement.results, op.results, strict=True):
        new.name_hint = old.name_hint
        validity.settle(new, old)
    Rewriter.replace_op(op, replacement)


def _of_index(op: Write | LoadOp, mask: SSAValue | None) -> SSAValue | None:
    """A mask of gathered rows over the whole block."""
    if mask is None:
        return None
    block = op.results[0] if isinstance(op, LoadOp) else op.desired if isinstance(op, CasOp) else op.value
    axes = block_axes(op.entries, memory_shape(op.memory.type))
    places = [n for n, axis in enumerate(axes) if axis.gather_dim is not None]
    if len(places) == len(axes):
        return mask
    return Builder(op).add(BroadcastOp(mask, places, tile_type(block).with_element(i1)))


def takes(load: LoadOp, fill: Number) -> bool:
    """Whether a load's type has ``fill``, and the lanes that its own mask leaves out take it, if there are any."""
    element = element_of(load.result)
    if not (is_float(element) or isfinite(fill)) or literal_value(literal(fill, element)) != fill:
        return False
    other = 0 if load.other is None else literal_value(load.other)
    return load.mask is None or other == fill
