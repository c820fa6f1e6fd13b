"""The pass ``insert-masks``: lanes outside their range get the neutral value before lanes are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.combining import combined_lanes, combined_operands
from kopt.analysis.padding import LoadPadding, Number, padding
from kopt.analysis.validity import LaneValidity
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import (
    AssociativeOp,
    DimAttr,
    LoadOp,
    MaskOp,
    StoreOp,
    TileType,
    WholeOp,
    literal,
    tag_of,
    tile_type,
)
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.combination_masks import leave_out_undefined
from kopt.passes.masking import mask_hidden, mask_write, takes
from kopt.passes.retyping import replace_dims
from kopt.walk import walk


@dataclass(frozen=True)
class InsertMasksPass(ModulePass):
    """Masks the operands of reduce, argreduce, sort, dot and reverse scans where lanes may lie outside their range.

    The fill is the neutral value of that use: 0 for a sum, -inf for a maximum, 0 on both sides of a dot. The mask
    stands at the use. There is none where the block divides the distance walked, nor where those lanes hold the fill
    already.

    * With ``fold-loads`` a mask becomes the ``pad`` of loads, where what is computed from them holds the fill then.
    * A combination by a kernel's own function has no neutral value: it takes the lanes' validity as one more operand.
    * A dimension that lost its tag (reshape, concat, gather) is masked by the validity of the lanes it was made from.
    * A `tile.whole` that nothing needs in the end disappears, and its dimensions become plain.

        %s = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=64 x f32>
    becomes, for 100 columns,
        %m = tile.mask %v in (_, %j) else 0.0 : !tile.tile<b0=8 x b1=64 x f32>
        %s = tile.reduce add %m [1] : !tile.tile<b0=8 x b1=64 x f32>

    It never refuses.
    """

    name = "insert-masks"

    fold_loads: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        validity = LaneValidity()
        for user in walk(op):
            for number, dims, fill in combined_lanes(user):
                mask_hidden(user, number, dims, fill, validity)
            for number, dims, fill in combined_operands(user):
                _mask_operand(user, number, dims, fill, self.fold_loads, validity)
            if isinstance(user, StoreOp | RmwOp | CasOp):
                mask_write(user, validity)
            elif isinstance(user, AssociativeOp):
                leave_out_undefined(user)
        for whole in walk(op, WholeOp):
            _forget_unused(whole)


def _forget_unused(whole: WholeOp) -> None:
    """Makes the dimensions over a range plain that nothing is indexed or masked by: they have no other use for it.

    Accesses at computed places have: lanes that are not the range's are not accessed.
    """
    grid = whole.parent_op()
    if whole.result.first_use is None and grid is not None:
        dim = whole.result.type.dim  # pyright: ignore[reportAttributeAccessIssue]
        if any(isinstance(op, LoadOp | StoreOp | RmwOp | CasOp) and _is_placed_by(op, dim) for op in walk(grid)):
            return
        Rewriter.erase_op(whole)
        plain = DimAttr(dim.size.data)
        replace_dims(grid, lambda old: plain if old == dim else old)


def _is_placed_by(op: LoadOp | StoreOp | RmwOp | CasOp, dim: DimAttr) -> bool:
    return any(isinstance(value.type, TileType) and dim in value.type.dims.data for value in op.indices)


def _element(value: SSAValue):
    return tile_type(value).element_type


def _mask_operand(
    user: Operation, number: int, dims: Sequence[int], fill: Number, fold_loads: bool, validity: LaneValidity
) -> None:
    value = user.operands[number]
    limits = _limits(user, value, dims, fill)
    if any(limit is not None for limit in limits):
        user.operands[number] = _mask_tagged(user, value, limits, fill, fold_loads)
        validity.settle(user.operands[number], value)


def _limits(user: Operation, value: SSAValue, dims: Sequence[int], fill: Number) -> list[SSAValue | None]:
    """The range to mask each dimension by, None where no mask is needed."""
    tags = tile_type(value).tags
    limits: list[SSAValue | None] = [None] * len(tags)
    scope = ranges_in_scope(user) if any(tags[dim] for dim in dims) else {}
    for dim in dims:
        range = scope.get(tags[dim])
        if range is not None and not always_full(range) and padding(value, tags[dim]) != fill:
            limits[dim] = range
    return limits


def _pad_loads(value: SSAValue, limits: Sequence[SSAValue | None], fill: Number) -> bool:
    """Pads the loads that a value is computed from, where it holds the fill then; False where no number does that."""
    tags = [tag_of(limit) for limit in limits if limit is not None]
    for number in dict.fromkeys((fill, 0)):
        found = [LoadPadding({tag}, number, takes) for tag in tags]
        if all(each.of(value) == fill for each in found):
            for load in (load for each in found for load in each.loads):
                load.pad = literal(number, _element(load.result))
            return True
    return False


def _mask_tagged(
    user: Operation, value: SSAValue, limits: Sequence[SSAValue | None], fill: Number, fold_loads: bool
) -> SSAValue:
    if fold_loads and _pad_loads(value, limits, fill):
        return value
    mask = MaskOp(value, limits, fill)
    mask.location = user.location
    mask.result.name_hint = value.name_hint
    Rewriter.insert_op(mask, InsertPoint.before(user))
    return mask.result
