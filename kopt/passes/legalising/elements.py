"""Element types at a kernel's boundary: what Mosaic cannot load is cast on the host, where that changes nothing."""

from __future__ import annotations

import operator

from xdsl.dialects.builtin import FixedBitwidthType, MemRefType, f16, f64, i32
from xdsl.dialects.builtin import IntegerType as Int
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.narrowing import beyond_end, narrowing
from kopt.analysis.storage import stored_element
from kopt.analysis.store_to_load import may_see
from kopt.analysis.wide_facts import is_wide
from kopt.diagnostics import location_of, remark
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    CastOp,
    ElementwiseOp,
    FullOp,
    LoadOp,
    RefType,
    StoreOp,
    TileType,
    array_type,
    literal,
    literal_value,
    tile_type,
)
from kopt.errors import LoweringError
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.accesses_in_type import retype_access
from kopt.passes.accumulators.atomic_updates import erase_dead
from kopt.passes.launches import erase_unused, host_cast
from kopt.passes.legalising.halves import widen_f16
from kopt.passes.legalising.intervals import require_interval
from kopt.passes.mosaic.scalars import drop_casts_back
from kopt.passes.retyping import defined_values
from kopt.walk import walk

I8 = Int(8)


def legalise_elements(launch: LaunchOp) -> None:
    """Casts arrays of bool, f16 and i64 around a launch, and rewrites the accesses inside.

    Refuses f64, and 64-bit integers that 32 bits may not serve.
    """
    _refuse_f64(launch)
    _narrow_integers(launch)
    halves = [arg.index for arg in launch.body.block.args if getattr(arg.type, "element_type", None) == f16]
    for number, arg in enumerate(launch.body.block.args):
        inner = stored_element(array_type(arg))
        if inner != array_type(arg).element_type:
            cast_operand(launch, number, inner)
    widen_f16(launch, {launch.body.block.args[number] for number in halves})


def _refuse_f64(launch: LaunchOp) -> None:
    for op in [inner for inner in walk(launch) if not inner.regions]:
        for value in (*op.results, *op.operands):
            if getattr(value.type, "element_type", None) == f64:
                raise LoweringError(
                    "a TPU has no f64",
                    location_of(op),
                    notes=["convert to float32 before the kernel, or use the target 'reference'"],
                    id="element-type",
                )


def _narrow_integers(launch: LaunchOp) -> None:
    """Holds the kernel's 64-bit integers in 32 bits; notes what a call must find in arrays for that."""
    long = [op for op in walk(launch) if any(is_wide(value.type) for value in (*op.results, *op.operands))]
    if not long:
        return
    found = narrowing(launch)
    for op in found.unproven:
        raise LoweringError(
            f"a TPU has no 64-bit integers, and '{op.name}' may not fit 32 bits",
            location_of(op),
            notes=[
                "64-bit numbers can be compared and used as indices, and those of arguments be computed with where "
                "results fit; convert to int32 for anything else"
            ],
            id="element-type",
        )
    for array, interval in found.intervals.items():
        require_interval(array, *interval)
    # Comparisons are folded first of all: what they compare with is saturated here.
    for op in [op for op in long if not _folded(op)]:
        _retype_op(op)
        if isinstance(op, ELEMENTWISE["shr"]):
            _limit_shift(op)


#: Comparisons, as those of numbers.
_COMPARE = {name: getattr(operator, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def _folded(op: Operation) -> bool:
    """Whether a comparison of what fits 32 bits with a constant that does not is now its one answer."""
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in _COMPARE:
        return False
    left, right = map(beyond_end, op.inputs)
    if left is None and right is None:
        return False
    answer = Builder(op).add(FullOp(int(_COMPARE[op.ROW.name](left or 0, right or 0)), tile_type(op.result)))
    Rewriter.replace_op(op, [], [answer])
    return True


def _retype_op(op: Operation) -> None:
    """An op's 64-bit tiles, buffers and literals become 32-bit ones."""
    for value in defined_values(op):
        if isinstance(value.type, TileType) and is_wide(value.type):
            Rewriter.replace_value_with_new_type(value, value.type.with_element(i32))
        elif isinstance(value.type, RefType) and is_wide(value.type):
            Rewriter.replace_value_with_new_type(value, RefType(value.type.dims, i32, value.type.space.data))
        elif value.type == Int(64):
            Rewriter.replace_value_with_new_type(value, i32)
    for name in ("value", "fill", "other", "pad"):
        attribute = op.properties.get(name)
        if attribute is not None and is_wide(getattr(attribute, "type", i32)):
            op.properties[name] = literal(_saturated(int(literal_value(attribute))), i32)


def _limit_shift(op: Operation) -> None:
    """Shifts a 32-bit number by 31 at most, which leaves its sign as any longer one of 64 bits does."""
    by = op.operands[1]
    if isinstance(full := by.owner, FullOp) and 0 <= int(full.number) < 32:
        return
    build = Builder(op)
    op.operands[1] = build.add(ELEMENTWISE["minimum"](by, build.add(FullOp(31, tile_type(by)))))


def _saturated(value: int) -> int:
    return max(-(2**31), min(2**31 - 1, value))


def cast_operand(launch: LaunchOp, number: int, inner: Attribute) -> None:
    """Casts one array before, and its new version after, a launch; the accesses convert to what the body computes."""
    arg = launch.body.block.args[number]
    outer = arg.type
    assert isinstance(outer, MemRefType) and isinstance(inner, FixedBitwidthType)
    name = arg.name_hint or f"operand {number}"
    remark(launch, f"'{name}' is cast from {outer.element_type} to {inner} on the host: Mosaic cannot load the former")
    type = MemRefType(inner, outer.get_shape())
    if number < len(launch.inputs):
        source = launch.inputs[number]
        launch.operands[number] = host_cast(source, type, launch)
        erase_unused([source])
    arg = Rewriter.replace_value_with_new_type(arg, type)
    for use in list(arg.uses):
        _rewrite_access(use.operation, inner)
    if number in launch.written:
        _cast_result(launch, launch.version_of(number), type, outer)


def _cast_result(launch: LaunchOp, result: SSAValue, type: MemRefType, outer: MemRefType) -> None:
    uses = list(result.uses)
    result = Rewriter.replace_value_with_new_type(result, type)
    back = host_cast(result, MemRefType(outer.element_type, outer.get_shape()), launch, before=False)
    for use in uses:
        use.operation.operands[use.index] = back


def _rewrite_access(op: Operation, inner: Attribute) -> None:
    if isinstance(op, LoadOp):
        _load_as(op, inner)
    elif isinstance(op, StoreOp):
        _store_as(op, inner)
    elif isinstance(op, RmwOp | CasOp):
        retype_access(op, op.memory, inner)


def _load_as(op: LoadOp, inner: Attribute) -> None:
    """The load in the inner type, cast to what the body computes with."""
    type = tile_type(op.result)
    for name in ("other", "pad"):
        if (attribute := op.properties.get(name)) is not None:
            op.properties[name] = literal(literal_value(attribute), inner)
    Rewriter.replace_value_with_new_type(op.result, type.with_element(inner))
    if type.element_type == inner:
        return
    steps = [CastOp(op.result, i32)] if inner == I8 else []
    steps.append(CastOp(steps[-1].result if steps else op.result, type.element_type))
    op.result.replace_uses_with_if(steps[-1].result, lambda use: use.operation not in steps)
    for step in steps:
        step.location = op.location
    Rewriter.insert_op(steps, InsertPoint.after(op))
    if not type.rank:
        drop_casts_back(steps[-1].result, op.result)
        erase_dead([steps[-1].result])


def _store_as(op: StoreOp, inner: Attribute) -> None:
    """The value cast to the inner type; a rounding to f16 right before is left to the host, which rounds the same.

    Unless the kernel itself may load the value.
    """
    value = op.value
    if tile_type(value).element_type == inner:
        return
    loads = [use.operation for use in op.memory.uses if isinstance(use.operation, LoadOp)]
    analysis = IndexAnalysis()
    seen = any(may_see(load, op, analysis) for load in loads)
    if not seen and isinstance(value.owner, CastOp) and value.owner.input.type == tile_type(value).with_element(inner):
        op.operands[0] = value.owner.input
        return
    cast = CastOp(value, inner)
    cast.location = op.location
    Rewriter.insert_op(cast, InsertPoint.before(op))
    op.operands[0] = cast.result
