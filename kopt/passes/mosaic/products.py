"""Matrix products that Mosaic lacks: several batch dimensions, operands of unsigned integers."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerType, bf16, f32, i8
from xdsl.ir import Operation, SSAValue

from kopt.diagnostics import location_of
from kopt.dialects.tile import ELEMENTWISE, DotOp, SliceOp
from kopt.errors import LoweringError
from kopt.passes.mosaic.building import Builder, element_of, type_of

#: Products of two 8-bit numbers that f32 adds up exactly.
_EXACT = 256


def expand_dot(op: Operation) -> None:
    """Rewrites one product; refuses integers of more than 8 bits, which no TPU multiplies as matrices."""
    assert isinstance(op, DotOp)
    element = element_of(op.lhs)
    if isinstance(element, IntegerType) and element != i8:
        if element.width.data != 8:
            raise LoweringError(f"a TPU multiplies matrices of 8-bit integers, not {element}", location_of(op))
        _of_unsigned(op)
    elif type_of(op.lhs).rank > 3:
        _one_batch(op)


def _one_batch(op: DotOp) -> None:
    """Several batch dimensions as one."""
    build = Builder(op)
    result = type_of(op.result)
    operands = [_merged(build, value) for value in op.operands]
    acc = operands[2] if op.accumulator is not None else None
    precision = op.precision.data if op.precision is not None else None
    dot = build.add(DotOp(operands[0], operands[1], acc, result.element_type, precision))
    build.replace(build.reshape(dot, result.dims.data))


def _merged(build: Builder, value: SSAValue) -> SSAValue:
    dims = type_of(value).dims.data
    batch = prod(dim.size.data for dim in dims[:-2])
    return build.reshape(value, [batch, *dims[-2:]])


def _of_unsigned(op: DotOp) -> None:
    """Unsigned bytes are exact in bf16, and so are the sums of 256 of their products in f32."""
    build = Builder(op)
    lhs, rhs = build.cast(op.lhs, bf16), build.cast(op.rhs, bf16)
    total = op.accumulator
    depth = type_of(lhs).shape[-1]
    for start in range(0, depth, _EXACT):
        size = min(_EXACT, depth - start)
        left, right = (_part(build, value, dim, start, size) for value, dim in ((lhs, -1), (rhs, -2)))
        part = build.cast(build.add(DotOp(left, right, element_type=f32)), element_of(op.result))
        total = part if total is None else build.add(ELEMENTWISE["add"](total, part))
    assert total is not None
    build.replace(total)


def _part(build: Builder, value: SSAValue, dim: int, start: int, size: int) -> SSAValue:
    """A part of one dimension, given from the end."""
    dims = type_of(value).dims.data
    if dims[dim].size.data == size:
        return value
    if dims[dim].tag.data:
        raise LoweringError(f"a product of unsigned bytes takes blocks of up to {_EXACT}", location_of(build.op))
    offsets, sizes = [0] * len(dims), [d.size.data for d in dims]
    offsets[dim], sizes[dim] = start, size
    return build.add(SliceOp(value, offsets, sizes, [1] * len(dims)))
