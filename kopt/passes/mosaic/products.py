"""Matrix products that Mosaic lacks: of several batch dimensions, unsigned or wide integers, of parts of f32."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerType, StringAttr, bf16, f32, i8, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.diagnostics import location_of, remark
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ELEMENTWISE, BitcastOp, DotOp, FullOp, SliceOp, element_of, tile_type
from kopt.errors import LoweringError

#: Products of two 8-bit numbers that f32 adds up exactly.
_EXACT = 256
#: Half of bf16's last digit and the bits that it has, in those of an f32.
_HALF, _KEPT = 0x8000, -(2**16)
#: Bytes of the type that products are added in.
_WORD = 4


class FlattenBatches(RewritePattern):
    """Several batch dimensions → one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter, /) -> None:
        result = tile_type(op.result)
        if result.rank <= 3:
            return
        build = Builder(op, rewriter=rewriter)
        operands = [_merged(build, value) for value in op.operands]
        acc = operands[2] if op.accumulator is not None else None
        precision = op.precision.data if op.precision is not None else None
        dot = DotOp(operands[0], operands[1], acc, result.element_type, precision)
        build.replace(build.reshape(build.add(dot), result.dims.data))


def _merged(build: Builder, value: SSAValue) -> SSAValue:
    dims = tile_type(value).dims.data
    batch = prod(dim.size.data for dim in dims[:-2])
    return build.reshape(value, [batch, *dims[-2:]])


class UnsignedBytesToBf16(RewritePattern):
    """Unsigned bytes are exact in bf16, and so are the sums of 256 of their products in f32."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter, /) -> None:
        if _integer_bits(op) != 8:
            return
        build = Builder(op, rewriter=rewriter)
        lhs, rhs = build.cast(op.lhs, bf16), build.cast(op.rhs, bf16)
        total = op.accumulator
        depth = tile_type(lhs).shape[-1]
        for start in range(0, depth, _EXACT):
            size = min(_EXACT, depth - start)
            left, right = (_part(build, value, dim, start, size) for value, dim in ((lhs, -1), (rhs, -2)))
            part = build.cast(build.add(DotOp(left, right, element_type=f32)), element_of(op.result))
            total = part if total is None else build.add(ELEMENTWISE["add"](total, part))
        assert total is not None
        build.replace(total)


class IntegersToBytes(RewritePattern):
    """Numbers of 16 and 32 bits as sums of signed bytes times powers of 256: products of bytes, shifted, are added.

    All in 32 bits that wrap, so that limbs above them do not matter. Refuses 64-bit integers.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter, /) -> None:
        bits = _integer_bits(op)
        if bits is None or bits == 8:
            return
        if bits == 64:
            raise LoweringError(
                "a TPU has no 64-bit integers", location_of(op), ["convert to int32"], id="element-type"
            )
        build = Builder(op, rewriter=rewriter)
        left, right = (_limbs(build, value) for value in (op.lhs, op.rhs))
        total = op.accumulator
        for place in range(_WORD):
            pairs = [(left[n], right[place - n]) for n in range(place + 1) if n < len(left) and place - n < len(right)]
            part = None
            for lhs, rhs in pairs:
                part = build.add(DotOp(lhs, rhs, part, i32))
            if part is None:
                continue
            if place:
                part = build.add(ELEMENTWISE["shl"](part, build.add(FullOp(8 * place, tile_type(part)))))
            total = part if total is None else build.add(ELEMENTWISE["add"](total, part))
        assert total is not None
        build.replace(total)


class PartsOfF32(RewritePattern):
    """``precision bf16x3`` → the three larger products of two bf16 parts; ``tf32x3`` → exact, since no chip has tf32.

    What no bf16 holds is in the first product alone: an infinity times a part of the other sign is no number.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DotOp, rewriter: PatternRewriter, /) -> None:
        precision = op.precision.data if op.precision is not None and element_of(op.lhs) == f32 else None
        if precision == "tf32x3":
            remark(op, "a TPU has no tf32: the product is exact, as by 'ieee'")
            op.precision = StringAttr("ieee")
            rewriter.notify_op_modified(op)
        if precision != "bf16x3":
            return
        build = Builder(op, rewriter=rewriter)
        (left, *lefts), (right, *rights) = (_parts_of_f32(build, value) for value in (op.lhs, op.rhs))
        total = None
        for lhs, rhs in ((lefts[1], rights[0]), (lefts[0], rights[1]), (left, right)):
            total = build.add(DotOp(lhs, rhs, total, f32))
        assert total is not None
        build.replace(total if op.accumulator is None else build.compute("add", op.accumulator, total))


def _parts_of_f32(build: Builder, value: SSAValue) -> list[SSAValue]:
    """Numbers in bf16, those of them that are finite, and what they lack. By bits: casts there and back are undone."""
    bits = build.with_number("add", build.add(BitcastOp(value, i32)), _HALF)
    high = build.add(BitcastOp(build.with_number("and", bits, _KEPT), f32))
    finite = build.compute("lt", build.compute("abs", high), build.full(float("inf"), high))
    zero = build.full(0.0, high)
    parts = (high, *(build.select(finite, part, zero) for part in (high, build.compute("sub", value, high))))
    return [build.cast(part, bf16) for part in parts]


def _integer_bits(op: DotOp) -> int | None:
    """The width of the integers that are multiplied, where they are not the signed bytes that Mosaic has."""
    element = element_of(op.lhs)
    return element.width.data if isinstance(element, IntegerType) and element != i8 else None


def _limbs(build: Builder, value: SSAValue) -> list[SSAValue]:
    """Signed bytes, the lowest first; a carry makes one more of them than 16 bits have."""
    element = element_of(value)
    assert isinstance(element, IntegerType)
    rest, limbs = build.cast(value, i32), []
    for place in range(_WORD if element.width.data == 32 else 3):
        if place:
            lower = build.cast(limbs[-1], i32)
            rest = build.add(ELEMENTWISE["sub"](rest, lower))
            rest = build.add(ELEMENTWISE["shr"](rest, build.add(FullOp(8, tile_type(rest)))))
        limbs.append(build.cast(rest, i8))
    return limbs


def _part(build: Builder, value: SSAValue, dim: int, start: int, size: int) -> SSAValue:
    """A part of one dimension, given from the end."""
    dims = tile_type(value).dims.data
    if dims[dim].size.data == size:
        return value
    if dims[dim].tag.data:
        raise LoweringError(
            f"a product of unsigned bytes takes blocks of up to {_EXACT}", location_of(build.op), id="element-type"
        )
    offsets, sizes = [0] * len(dims), [d.size.data for d in dims]
    offsets[dim], sizes[dim] = start, size
    return build.add(SliceOp(value, offsets, sizes, [1] * len(dims)))
