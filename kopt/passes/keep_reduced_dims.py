"""The pass ``keep-reduced-dims``: row statistics that loops carry keep the dimension that was reduced."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.reduced_dims import Rows, carried_rows, keeps, kept
from kopt.dialects.builder import Builder
from kopt.dialects.tile import FullOp, GridOp, ReshapeOp, tile_type
from kopt.walk import walk


@dataclass(frozen=True)
class KeepReducedDimsPass(ModulePass):
    """Keeps the reduced dimension of values that loops carry, as one lane: NumPy's ``keepdims``.

    The number of a row then stands in the row's own sublane, where the reduction leaves it and where a broadcast wants
    it. Without the dimension it stands in a lane, and each visit changes the layout twice.

        %r = tile.for %k … iter(%a = %z) -> (!tile.tile<b0=128 x f32>) {
          %m = tile.reduce max %s [1] : !tile.tile<b0=128 x b1=64 x f32>
          %n = tile.maximum %a, %m : !tile.tile<b0=128 x f32>
          %c = tile.reshape %n : … to !tile.tile<b0=128 x 1 x f32>   %w = tile.broadcast %c …
    becomes
        %r = tile.for %k … iter(%a = %z) -> (!tile.tile<b0=128 x 1 x f32>) {
          %m = tile.reduce max %s [1] : !tile.tile<b0=128 x b1=64 x f32>
          %d = tile.reshape %m : … to !tile.tile<b0=128 x 1 x f32>
          %n = tile.maximum %a, %d : !tile.tile<b0=128 x 1 x f32>   %w = tile.broadcast %n …

    Values that are computed lane by lane from these keep the dimension too (`kopt.analysis.reduced_dims`). All stay
    as they are where the change would need as many relayouts in loops, or would reshape narrow elements.
    """

    name = "keep-reduced-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            for rows in [*carried_rows(grid)]:
                _keep(rows)


def _keep(rows: Rows) -> None:
    given = frozenset(rows.given)
    taken = {value: frozenset(rows.taken(value)) for value in rows.values}
    for value in rows.values:
        if value in given or isinstance(value.owner, FullOp):
            tied = frozenset(value.uses) - taken[value]
            value.replace_uses_with_if(_beside(value), tied.__contains__)
        else:
            _retype(value, taken[value])


def _beside(value: SSAValue) -> SSAValue:
    """The value with the dimension, made anew; what is no part of the component still takes it as it was."""
    assert isinstance(op := value.owner, Operation)
    build = Builder(InsertPoint.after(op), op)
    type = kept(tile_type(value))
    return build.add(FullOp(op.value, type) if isinstance(op, FullOp) else ReshapeOp(value, type), value.name_hint)


def _retype(value: SSAValue, others: frozenset[Use]) -> None:
    """Gives the value the dimension; what is no part of the component and lacks it takes it back."""
    before = tile_type(value)
    keeping = [use.operation for use in others if keeps(use.operation, value)]
    others = frozenset(use for use in others if use.operation not in keeping)
    new = Rewriter.replace_value_with_new_type(value, kept(before))
    for reshape in keeping:
        Rewriter.replace_op(reshape, [], [new])
    if others:
        dropped = Builder.after(new).add(ReshapeOp(new, before), new.name_hint)
        new.replace_uses_with_if(dropped, lambda use: use in others)
