"""Reads of a block that only keep it: each lane that was read goes at most back to its own place.

A store of some lanes writes the whole block on a TPU: it reads the block, selects, and puts the block back. Between
them lanes are moved where the store's dimensions stand in another order than the block's, and moved back.

Pure.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue, Use

from kopt.analysis.bottom_up import bottom_up
from kopt.dialects.canonicalization.elementwise import widens
from kopt.dialects.tile import CastOp, GetOp, PutOp, RefType, ReshapeOp, SelectOp, TileType, TransposeOp, tile_type


def only_kept(get: GetOp) -> bool:
    """Whether a read only keeps the lanes that masked writes to the same place leave alone, by one mask or several."""
    return _kept(get.result, None, get)


def _kept(value: SSAValue, lanes: np.ndarray | None, get: GetOp) -> bool:
    return all(_keeps(use, lanes, get) for use in value.uses)


def _keeps(use: Use, lanes: np.ndarray | None, get: GetOp) -> bool:
    """Whether each lane goes at most to its own place through a use. ``lanes`` numbers them; None as they were read."""
    op = use.operation
    if isinstance(op, SelectOp):
        return op.operands[use.index] is not op.condition and _kept(op.result, lanes, get)
    if isinstance(op, CastOp):
        return _holds(op, get) and _kept(op.result, lanes, get)
    if isinstance(op, ReshapeOp | TransposeOp):
        return _kept(op.result, _moved(op, _numbered(get) if lanes is None else lanes), get)
    return isinstance(op, PutOp) and op.operands[use.index] is op.value and _same(op, lanes, get)


def _numbered(get: GetOp) -> np.ndarray:
    shape = tile_type(get.result).shape
    return np.arange(math.prod(shape), dtype=np.int32).reshape(shape)


def _moved(op: ReshapeOp | TransposeOp, lanes: np.ndarray) -> np.ndarray:
    return lanes.transpose(op.order) if isinstance(op, TransposeOp) else lanes.reshape(op.result_type.shape)


def _holds(cast: CastOp, get: GetOp) -> bool:
    """Whether a cast's result still holds every number that the block has."""
    assert isinstance(get.memory.type, RefType) and isinstance(cast.result.type, TileType)
    own, other = get.memory.type.element_type, cast.result.type.element_type
    return own == other or widens(own, other) or (other == i1 and _has_booleans(get.memory))


def _has_booleans(ref: SSAValue) -> bool:
    """Whether all that is put into a block are booleans, be it as bytes."""
    put = [op.value for use in ref.uses if isinstance(op := use.operation, PutOp) and op.memory is ref]
    return all(_is_boolean(value, ref) for value in put)


@bottom_up()
def _is_boolean(value: SSAValue, ref: SSAValue) -> bool:
    """Whether lanes are booleans, or what a block of these had."""
    op = value.owner
    if isinstance(op, SelectOp):
        return _is_boolean(op.on_true, ref) and _is_boolean(op.on_false, ref)
    if isinstance(op, CastOp):
        return tile_type(op.input).element_type == i1
    return isinstance(op, GetOp) and op.memory is ref


def _same(put: PutOp, lanes: np.ndarray | None, get: GetOp) -> bool:
    if put.memory is not get.memory or put.entries != get.entries:
        return False
    return lanes is None or np.array_equal(lanes, _numbered(get))
