"""Running combinations along a dimension: by a kind of the tables, or by a function recorded on scalars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from xdsl.ir import Block, Operation, Region, SSAValue

from kopt.dialects import tile
from kopt.dialects.builder import as_hint
from kopt.dialects.tile import YieldOp, function_of
from kopt.frontend.broadcasting import cast
from kopt.frontend.dtypes import compute_dtype, float_dtype
from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.reductions import ValuesIndices
from kopt.frontend.ops.shapes import positive_dim
from kopt.frontend.positions import ranks
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor
from kopt.walk import walk


def scan(kind: str, input: Any, dim: int, dtype: torch.dtype | None = None, reverse: bool = False) -> DeviceTensor:
    """A running combination by a kind of the tables."""
    source = as_tensor(input)
    widened = torch.int64 if kind in ("add", "mul") and not source.dtype.is_floating_point else source.dtype
    result = dtype or widened
    value = cast(source, compute_dtype(result))
    return cast(DeviceTensor(current().emit(tile.ScanOp(kind, value.ssa, positive_dim(value, dim), reverse))), result)


def scan_by(function: Block, values: Sequence[DeviceTensor], dim: int, reverse: bool = False) -> list[DeviceTensor]:
    """A running combination by a recorded function."""
    op = tile.AssociativeScanOp([value.ssa for value in values], dim, Region(function), reverse)
    current().append(op)
    return [DeviceTensor(result) for result in op.results]


def recorded(function: Callable[..., Any], values: Sequence[DeviceTensor], names: Sequence[str] = ()) -> Block:
    """A function of the scalars of the left, then of the right, that gives as many as the left has."""
    tracer = current()
    block, kept = function_of([value.tile_type for value in values]), tracer.block
    for argument, name in zip(block.args, names, strict=False):
        argument.name_hint = as_hint(name)
    tracer.block = block
    results = function(*(DeviceTensor(argument) for argument in block.args))
    if len(results) != len(values):
        unsupported(f"the combining function gives {len(results)} values for {len(values)} tensors", id="shapes")
    yields = [_scalar(result, value) for result, value in zip(results, values, strict=True)]
    tracer.append(YieldOp(*yields))
    tracer.block = kept
    _check_closed(block)
    return block


def _scalar(result: Any, like: DeviceTensor) -> SSAValue:
    value = cast(as_tensor(result), like.dtype)
    if value.rank:
        unsupported("the combining function works lane by lane: it cannot give a tensor of another shape", id="shapes")
    return value.ssa


def _check_closed(block: Block) -> None:
    """Refuses a function that uses what the kernel has computed: targets compile it by itself."""
    inner: set[Operation | Block] = {block, *block.walk()}
    if any(value.owner not in inner for op in walk(block) for value in op.operands):
        unsupported(
            "the combining function uses a device value of the kernel around it",
            "pass it as one more tensor of the tuple, or use Python numbers",
            id="shapes",
        )


def _running(kind: str) -> Callable[..., DeviceTensor]:
    return lambda input, dim=0, *, dtype=None, axis=None: scan(kind, input, dim if axis is None else axis, dtype)


def _running_extreme(comparison: str) -> Callable[..., ValuesIndices]:
    """cummax and cummin: the last of equals, and NaN from where it is met."""

    def later(a: DeviceTensor, i: DeviceTensor, b: DeviceTensor, j: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
        right = LaneValue(b.ssa)
        takes = right.op(comparison, LaneValue(a.ssa))
        takes = takes | right.isnan() if b.dtype.is_floating_point else takes
        pairs = ((right, a), (LaneValue(j.ssa), i))
        best, place = (DeviceTensor(takes.where(new, LaneValue(old.ssa)).ssa) for new, old in pairs)
        return best, place

    def operation(input: Any, dim: int) -> ValuesIndices:
        source = as_tensor(input)
        at = positive_dim(source, dim)
        value = cast(source, torch.int32 if source.dtype == torch.bool else compute_dtype(source.dtype))
        values = [value, ranks(value, at)]
        best, place = scan_by(recorded(later, values, ("a", "i", "b", "j")), values, at)
        return ValuesIndices(cast(best, source.dtype), cast(place, torch.int64))

    return operation


def logcumsumexp(input: Any, dim: int) -> DeviceTensor:
    """``log(cumsum(exp(x)))``, safe for large values."""
    source = as_tensor(input)
    value = cast(source, compute_dtype(float_dtype(source.dtype)))

    def together(a: DeviceTensor, b: DeviceTensor) -> tuple[DeviceTensor]:
        left, right = LaneValue(a.ssa), LaneValue(b.ssa)
        top = left.maximum(right)
        finite = top.abs().eq(math.inf).where(0.0, top)
        return (DeviceTensor((((left - finite).exp() + (right - finite).exp()).log() + finite).ssa),)

    (out,) = scan_by(recorded(together, [value], ("a", "b")), [value], positive_dim(value, dim))
    out = DeviceTensor((LaneValue(out.ssa) + 0.0).ssa)  # a logarithm of a sum is no -0.0, which the first lane may be
    return cast(out, float_dtype(source.dtype))


TABLE: dict[str, Callable[..., Any]] = {
    "cumsum": _running("add"),
    "cumprod": _running("mul"),
    "cummax": _running_extreme("ge"),
    "cummin": _running_extreme("le"),
    "logcumsumexp": logcumsumexp,
}
