"""The pass ``speculate-picks``: elements of flat storage are picked from the row at hand, if that is where they are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, ModuleOp, UnitAttr, i32
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.cell_footprint import first_user
from kopt.analysis.flat_columns import FlatColumn, flat_column
from kopt.dialects.builder import Builder, named
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    UNLIKELY,
    CastOp,
    ExtractOp,
    IndexOp,
    LoadOp,
    ReduceOp,
    ReshapeOp,
    array_type,
    tile_type,
)
from kopt.ir.sums import SumAnalysis
from kopt.passes.access_building import replace_load
from kopt.passes.normalising.indices import tile_of
from kopt.passes.replacing import replacing
from kopt.walk import walk


@dataclass(frozen=True)
class SpeculatePicksPass(ModulePass):
    """Splits a gather of flat storage into one of the row that another access has, and one of memory in a branch.

    The branch is taken if a number names an element of another row. The result is then right too, but slow. Where
    the numbers are labels, or otherwise index the row's own elements, nothing but the row is read. The branch stands
    where its result is needed first: whether to take it is found out beside what comes before.

        %r = tile.load %x[%i, :] : memref<1024x32768xf32> -> !tile.tile<b0=32 x 32768 x f32>
        %v = tile.load %flat[(tile.index %i) * 32768 + %n] : memref<33554432xf32> -> !tile.tile<b0=32 x f32>
    becomes
        %near = tile.load %x[tile.index %i, (%n from 0 to 32767)] …
        %beyond = tile.reduce max (%n < 0 or %n > 32767) …
        %v = scf.if %beyond > 0 { %far = tile.load %x[%at / 32768, %at % 32768] …   scf.yield %far }
             else { scf.yield %near }{tile.unlikely}

    These gathers stay as they are: gathers of other arrays, of blocks of more than one dimension, with masks, and
    gathers whose index is not the begin of a row plus loaded numbers (`kopt.analysis.flat_columns`).
    """

    name = "speculate-picks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for load in walk(launch, LoadOp):
                sums = SumAnalysis()
                if (found := flat_column(load, launch, sums)) is not None:
                    _split(load, found, sums)


def _split(load: LoadOp, found: FlatColumn, sums: SumAnalysis) -> None:
    _sink(load)
    build, dims = Builder(load), tile_type(load.result).dims.data
    memory, last = found.holder.memory, found.extent - 1
    column = tile_of(found.column, dims, build, sums)
    inside = build.with_number("maximum", build.with_number("minimum", column, last), 0)
    row = build.add(IndexOp(found.holder.indices[0]))
    near = build.add(replacing(load, LoadOp(memory, [row, inside])), "near")
    if found.column.range.low == 0 and (high := found.column.range.high) is not None and high <= last:
        replace_load(load, near)
        return
    beyond = build.cast(build.compute("ne", column, inside), i32)
    most = build.add(ExtractOp(build.add(ReduceOp("max", beyond, [0])), IndexType()))
    is_beyond = named(build.add(arith.CmpiOp(most, build.index(0), "sgt")), "beyond")
    then, otherwise = (Region(Block([scf.YieldOp(near)])) for _ in range(2))
    branch = scf.IfOp(is_beyond, [near.type], then, otherwise, attr_dict={UNLIKELY: UnitAttr()})
    build.insert(branch)
    far = _from_memory(load, found, build.into(branch.true_region.block))
    end = branch.true_region.block.last_op
    assert end is not None
    end.operands = [far]
    replace_load(load, branch.results[0])


def _sink(load: LoadOp) -> None:
    """Moves a load, with casts and reshapes of what it gives, to where that is needed first."""
    assert load.parent is not None
    moved: list[LoadOp | CastOp | ReshapeOp] = [load]
    while isinstance(user := moved[-1].result.get_user_of_unique_use(), CastOp | ReshapeOp):
        moved.append(user)
    if uses := [*moved[-1].result.uses]:
        user = first_user(uses, {op: number for number, op in enumerate(load.parent.ops)})
        for op in moved:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(user))


def _from_memory(load: LoadOp, found: FlatColumn, build: Builder) -> SSAValue:
    """The elements wherever in the matrix they are; what names none is as the array's first or last one."""
    extent, most = found.extent, array_type(load.memory).get_shape()[0] - 1
    at = build.cast(load.indices[0], i32)
    at = build.with_number("maximum", build.with_number("minimum", at, most), 0)
    row, column = build.with_number("truncdiv", at, extent), build.with_number("rem", at, extent)
    return build.add(replacing(load, LoadOp(found.holder.memory, [row, column])), "far")
