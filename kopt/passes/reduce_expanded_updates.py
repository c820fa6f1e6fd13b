"""The pass ``reduce-expanded-updates``: atomic updates through a view with repeated elements update what it repeats."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.ranges import binding, unshifted
from kopt.dialects.atomic import COMMUTES, RmwOp
from kopt.dialects.host import ExpandOp
from kopt.dialects.tile import FullOp, RangeType, ReduceOp, SelectOp, is_float, neutral
from kopt.dialects.tile.index_list import Entry, block_axes
from kopt.passes.mosaic.building import Builder, element_of, type_of, wide


@dataclass(frozen=True)
class ReduceExpandedUpdatesPass(ModulePass):
    """Lanes that meet in one element of a `host.expand` are combined first; their result updates its source.

    Launches cannot write views whose elements share storage. Sums of floats below 32 bits are formed in f32.

        %w = host.expand %out : memref<1x40xf32> to memref<37x40xf32, …>
        atomic.rmw add %v, %w[%i, %j] : !tile.tile<b0=8 x b1=16 x f32>, memref<37x40xf32, …>
    becomes
        %r = tile.reduce add %v [0] : !tile.tile<b0=8 x b1=16 x f32>
        atomic.rmw add %r, %out[0, %j] : !tile.tile<b1=16 x f32>, memref<1x40xf32>

    It never refuses; updates that do not commute or whose previous values are used, views with new dimensions, and
    repeated dimensions indexed by tiles stay as they are.
    """

    name = "reduce-expanded-updates"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for update in [inner for inner in op.walk() if isinstance(inner, RmwOp)]:
            view = update.memory.owner
            if isinstance(view, ExpandOp) and _reduces(update):
                _rewrite(update, view)


def _reduces(update: RmwOp) -> bool:
    return COMMUTES[update.kind.data] and all(result.first_use is None for result in update.previous)


def _rewrite(update: RmwOp, view: ExpandOp) -> None:
    source, shape = view.source_type.get_shape(), view.result_type.get_shape()
    repeated = {n for n, (one, many) in enumerate(zip(source, shape, strict=False)) if one != many}
    if len(source) != len(shape) or not all(_is_inside(update.entries[n], shape[n]) for n in repeated):
        return
    axes = [n for n, axis in enumerate(block_axes(update.entries, shape)) if axis.position in repeated]
    entries: list[Entry] = [0 if n in repeated else entry for n, entry in enumerate(update.entries)]
    kind, build = update.kind.data, Builder(update)
    value, mask = (_combined(build, update, axes), None) if axes else (update.value, update.mask)
    new = RmwOp(kind, value, view.source, entries, mask, update.ordering.data)
    new.location = update.location
    Rewriter.replace_op(update, new, [])
    if view.result.first_use is None:
        Rewriter.erase_op(view)


def _is_inside(entry: Entry, extent: int) -> bool:
    """Whether an index names elements of the dimension only, as lanes that a reduction can combine."""
    if not isinstance(entry, SSAValue) or entry.type == IndexType():
        return True
    if not isinstance(entry.type, RangeType) or unshifted(entry) is not entry:
        return False
    upper = binding(entry).upper
    return isinstance(upper, int) and upper <= extent


def _combined(build: Builder, update: RmwOp, axes: list[int]) -> SSAValue:
    """The lanes along some dimensions as one; those that a mask leaves out change nothing."""
    kind, value, element = update.kind.data, update.value, element_of(update.value)
    if is_float(element):
        value = build.cast(value, wide(element))
    if update.mask is not None:
        idle = build.add(FullOp(neutral(kind, element_of(value)), type_of(value)))
        value = build.add(SelectOp(update.mask, value, idle))
    return build.cast(build.add(ReduceOp(kind, value, axes)), element)
