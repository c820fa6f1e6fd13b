"""The pass ``fuse-host-reductions``: what the host reduces to one number, the kernel does when it is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr, f32
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.revisit_order import grid_of
from kopt.dialects.builder import Builder
from kopt.dialects.host import CallOp as HostCallOp
from kopt.dialects.host import ReshapeOp
from kopt.dialects.pallas import CallOp, WindowAttr
from kopt.dialects.tile import ALL, GetOp, PutOp, ReduceOp, RefType, WhenOp
from kopt.ir.ranges import binding
from kopt.open_extents import open_extents
from kopt.walk import walk

#: The operators, each with the combination of the elements; a mean is their sum over their number.
_REDUCTIONS = {
    "aten.sum.default": "add",
    "aten.mean.default": "add",
    "aten.max.default": "max",
    "aten.min.default": "min",
}


@dataclass(frozen=True)
class FuseHostReductionsPass(ModulePass):
    """Reduces a result to one number in the kernel that has it, if nothing else is done with it.

    A kernel whose window is the whole array has all of it in VMEM at the last cell. As an operation of its own the
    reduction is a program of the chip, which loads the array again.

        %y = pallas.call @f(%x) windows [..., <[1024], (d0) -> (0), vmem>] semantics (arbitrary) ... {
        ^bb0(..., %y_ref: !tile.ref<1024 x f32, vmem>): ... }
        %m = host.call "aten.mean.default"(%y) args [unit] : (memref<1024xf32>) -> (memref<f32>)
    becomes
        %s = pallas.call @f(%x) windows [..., <[1], (d0) -> (0), smem>] semantics (arbitrary) ... {
        ^bb0(..., %m_ref: !tile.ref<1 x f32, smem>, %y_ref: !tile.ref<1024 x f32, vmem>):
          ...
          tile.when last(%i) { tile.put ((tile.reduce add (tile.get %y_ref[:])) / 1024), %m_ref[0] } }
        %m = host.reshape %s : memref<1xf32> to memref<f32>

    Sums, means, maxima and minima of all elements, of f32. These stay on the host: of results that come by blocks or
    copies, that the caller gets too, that begin as another array, whose cells two cores share, or whose extents differ
    from call to call.
    """

    name = "fuse-host-reductions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for call in walk(op, CallOp):
            for number in range(len(call.outputs)):
                if (reduction := _reduction(call, number)) is not None:
                    call = _fused(call, number, reduction)


def _reduction(call: CallOp, number: int) -> HostCallOp | None:
    """The host's reduction of a result, where the kernel can have it instead."""
    result, window = call.outputs[number], call.windows.data[len(call.inputs) + number]
    use = result.get_user_of_unique_use()
    if not isinstance(use, HostCallOp) or use.callee.data not in _REDUCTIONS or [*use.arguments] != [UnitAttr()]:
        return None
    assert isinstance(type := result.type, MemRefType)
    given = use.outputs[0].type
    assert isinstance(given, MemRefType)
    if open_extents(type.get_shape()):
        return None
    is_number = type.element_type == given.element_type == f32 and not given.get_shape() and type.get_shape()
    is_whole = window.space.data == "vmem" and window.sizes == type.get_shape() and _stays(window)
    in_turn = all(word.data == "arbitrary" for word in call.semantics.data) and call.aliased[number] < 0
    runs = all(binding(range).trips not in (None, 0) for range in grid_of(call).ranges)
    return use if is_number and is_whole and in_turn and runs else None


def _stays(window: WindowAttr) -> bool:
    """Whether all cells have the same block."""
    return all(isinstance(expr, AffineConstantExpr) and expr.value == 0 for expr in window.index.data.results)


def _fused(call: CallOp, number: int, reduction: HostCallOp) -> CallOp:
    """The call with the number in the result's place; the result is scratch memory."""
    place, block, given = len(call.inputs) + number, call.body.block, reduction.outputs[0]
    old = block.args[place]
    whole = block.insert_arg(old.type, len(block.args))
    one = block.insert_arg(RefType((1,), f32, "smem"), place)
    whole.name_hint, one.name_hint = old.name_hint, given.name_hint or old.name_hint
    old.replace_all_uses_with(whole)
    block.erase_arg(old)
    _reduce_at_the_end(call, whole, one, reduction)
    window = WindowAttr([1], AffineMap(len(call.semantics.data), 0, (AffineConstantExpr(0),)), "smem")
    windows, types = [*call.windows.data], [*call.result_types]
    windows[place], types[number] = window, MemRefType(f32, [1])
    new = _rebuilt(call, types, windows)
    build = Builder(reduction)
    found = build.add(ReshapeOp(new.outputs[number], MemRefType(f32, [])), given.name_hint)
    given.replace_all_uses_with(found)
    Rewriter.erase_op(reduction)
    return new


def _rebuilt(call: CallOp, types: Sequence[Attribute], windows: Sequence[WindowAttr]) -> CallOp:
    """The call with other results."""
    words, region = [word.data for word in call.semantics.data], call.detach_region(call.body)
    name, inputs, count = call.sym_name.data, call.inputs, call.prefetched_count
    new = CallOp(name, inputs, types, windows, words, call.aliased, (), (), prefetched=count)
    new.collective, new.location = call.collective, call.location
    new.detach_region(0)
    new.add_region(region)
    Rewriter.insert_op(new, InsertPoint.before(call))
    for before, after in zip(call.outputs, new.outputs, strict=True):
        after.name_hint = before.name_hint
        before.replace_all_uses_with(after)
    Rewriter.erase_op(call)
    return new


def _reduce_at_the_end(call: CallOp, whole: SSAValue, one: SSAValue, reduction: HostCallOp) -> None:
    """Puts the number into scalar memory, at the last cell."""
    grid = grid_of(call)
    assert grid.body.block.last_op is not None
    when = Builder(grid.body.block.last_op, reduction).insert(WhenOp("last", grid.ranges, Region(Block())))
    build = Builder(InsertPoint.at_end(when.body.block), reduction)
    assert isinstance(whole.type, RefType)
    shape = whole.type.shape
    value = build.add(GetOp(whole, [ALL] * len(shape)))
    value = build.add(ReduceOp(_REDUCTIONS[reduction.callee.data], value, [*range(len(shape))]))
    if reduction.callee.data == "aten.mean.default":
        value = build.with_number("div", value, prod(shape))
    build.insert(PutOp(value, one, [0]))
