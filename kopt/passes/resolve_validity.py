"""The pass ``resolve-validity``: lanes that types no longer know as invalid get masks where they would count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.combining import combined_lanes
from kopt.analysis.hiding import hiding_values
from kopt.analysis.lane_facts import tiles
from kopt.analysis.regrouping import dropped_tags
from kopt.analysis.validity import LaneValidity
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.jagged import ValidOp as JaggedValidOp
from kopt.dialects.tile import (
    AssociativeOp,
    ConcatOp,
    FullOp,
    LoadOp,
    MaskOp,
    ReshapeOp,
    StoreOp,
    ValidLanesOp,
    ValidOp,
    tile_type,
)
from kopt.passes.carried_validity import carry_validity
from kopt.passes.combination_masks import leave_out
from kopt.passes.masking import mask_hidden, mask_read, mask_write
from kopt.walk import walk


@dataclass(frozen=True)
class ResolveValidityPass(ModulePass):
    """Makes validity explicit: lanes get masks where their dimensions have lost the tags that told which are valid.

    A dimension that is reshaped, joined or picked from blocks of loops has lanes that were outside of the range.
    Such lanes are masked where lanes are combined (by the neutral value of that use), where they are stored, and
    where they are indices of a load. Loops and branches carry the validity of a value beside it. After this pass,
    every value whose tag is dropped has defined lanes, which all count. `tile.valid_lanes` becomes the computation
    that it stands for.

        %r = tile.reshape %v : !tile.tile<b0=4 x 6 x f32> to !tile.tile<24 x f32>
        %m = tile.reduce max %r [0] : !tile.tile<24 x f32>
    becomes, for 13 rows,
        %k = tile.valid %i …   %b = tile.broadcast %k …   %n = tile.reshape %b : … to !tile.tile<24 x i1>
        %d = tile.mask %v in (%i, _) else 0.0 : !tile.tile<b0=4 x 6 x f32> to !tile.tile<4 x 6 x f32>
        %r = tile.reshape %d …   %s = tile.select %n, %r, %lowest …   %m = tile.reduce max %s [0] …

    It never refuses.
    """

    name = "resolve-validity"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hiding = hiding_values(op)
        validity = LaneValidity()
        if hiding:
            carry_validity(op, hiding, validity)
            for user in walk(op):
                _mask_user(user, validity)
        for lanes in walk(op, ValidLanesOp):
            _spell_out(lanes, validity)
        for moved in walk(op, ReshapeOp, ConcatOp):
            _define(moved, validity)


def _mask_user(user: Operation, validity: LaneValidity) -> None:
    for number, dims, fill in combined_lanes(user):
        mask_hidden(user, number, dims, fill, validity)
    if isinstance(user, StoreOp | RmwOp | CasOp):
        mask_write(user, validity)
    elif isinstance(user, LoadOp):
        mask_read(user, validity)
    elif isinstance(user, JaggedForOp):
        mask_hidden(user, 0, range(user.lengths_type.rank), 0, validity)
    elif isinstance(user, AssociativeOp):
        masks = [validity.along(value, [user.dim.data]) for value in user.inputs]
        leave_out(user, [mask for mask in masks if mask is not None])


def _spell_out(op: ValidLanesOp, validity: LaneValidity) -> None:
    valid = validity.of(op.input)
    if valid is None:
        full = FullOp(1, tile_type(op.result))
        full.location = op.location
        Rewriter.replace_op(op, full)
        return
    validity.settle(valid, op.result)
    valid.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [valid])


def _define(op: ReshapeOp | ConcatOp, validity: LaneValidity) -> None:
    """Gives the lanes a value that are outside the ranges of the tags that an op drops."""
    for number, value in enumerate(tiles(op.operands)):
        type, dims = tile_type(value), list(_dropped(op, value))
        if not dims:
            continue
        limits = [validity.range_of(value, tag) if n in dims else None for n, tag in enumerate(type.tags)]
        plain = [dim.size.data if n in dims else dim for n, dim in enumerate(type.dims.data)]
        mask = MaskOp(value, limits, 0, type.with_dims(plain))
        mask.location = op.location
        mask.result.name_hint = value.name_hint
        Rewriter.insert_op(mask, InsertPoint.before(op))
        op.operands[number] = mask.result


def _dropped(op: ReshapeOp | ConcatOp, value: SSAValue) -> Iterator[int]:
    """The dimensions of an operand whose tags, of more than one lane, an op drops."""
    if isinstance(value.owner, ValidOp | JaggedValidOp):
        return
    type, result = tile_type(value), tile_type(op.result)
    gone = [op.dim.data] if isinstance(op, ConcatOp) else dropped_tags(type, result)
    yield from (dim for dim in gone if type.tags[dim] and type.shape[dim] != 1)
