"""Matrix products that ``tl.dot`` does not take: of few summed lanes, some integers, several batches, a precision."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import Float8E4M3FNType, IntegerType, Signedness, StringAttr, f16, f32, i1, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.diagnostics import remark
from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.targets.chips import GpuChip

#: The least contracted lanes that ``tl.dot`` takes, for operands of 16 bits or more and of 8 bits.
_LEAST_K = 16
_LEAST_K_BYTES = 32


class DotToSum(RewritePattern):
    """``dot %l, %r`` → the sum over K of ``%l[…, M, K, 1] * %r[…, 1, K, N]`` in the accumulator's type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        lhs, rhs, result = tile.tile_type(op.lhs), tile.tile_type(op.rhs), tile.tile_type(op.result)
        if not (_is_short(lhs) or _is_wide_integer(lhs.element_type) or _is_exact_vector(op)):
            return
        build = Builder(op, rewriter=rewriter)
        rank = lhs.rank
        whole = tile.TileType([*lhs.dims.data, rhs.dims.data[-1]], result.element_type)
        batch = list(range(rank - 2))
        left, right = (
            build.add(tile.BroadcastOp(build.cast(value, result.element_type), [*batch, *dims], whole))
            for value, dims in ((op.lhs, (rank - 2, rank - 1)), (op.rhs, (rank - 1, rank)))
        )
        product = build.add(tile.ELEMENTWISE["mul"](left, right))
        total = build.add(tile.ReduceOp("add", product, [rank - 1]))
        if op.accumulator is not None:
            total = build.add(tile.ELEMENTWISE["add"](op.accumulator, total))
        build.replace(total)


def _is_short(type: tile.TileType) -> bool:
    width = getattr(type.element_type, "bitwidth", 32)
    return type.shape[-1] < (_LEAST_K_BYTES if width <= 8 else _LEAST_K)


def _is_wide_integer(element: Attribute) -> bool:
    """Whether the matrix units have no such integers."""
    return isinstance(element, IntegerType) and element.width.data > 8


def _is_exact_vector(op: tile.DotOp) -> bool:
    """Whether a product has one row or column, of f32 that needs more than one product: matrix units take 16 rows."""
    exact = op.precision is None or op.precision.data not in ("tf32", "bf16")
    return exact and tile.tile_type(op.lhs).element_type == f32 and 1 in tile.tile_type(op.result).shape[-2:]


class UnsignedToSigned(RewritePattern):
    """``dot`` of ``ui8`` → one of ``i8``, and sums: with ``a = l - 128`` and ``b = r - 128``, which are ``i8``,

    ``sum(l * r) = sum(a * b) + 128 * (sum(a) + sum(r))``.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        element, result = tile.tile_type(op.lhs).element_type, tile.tile_type(op.result)
        if not isinstance(element, IntegerType) or element.signedness.data is not Signedness.UNSIGNED:
            return
        build, rank = Builder(op, rewriter=rewriter), result.rank
        lhs, rhs = (build.cast(value, i32) for value in (op.lhs, op.rhs))
        a, b = (build.with_number("sub", value, 128) for value in (lhs, rhs))
        product = build.add(tile.DotOp(build.cast(a, i8), build.cast(b, i8), op.accumulator, result.element_type))
        batch = list(range(rank - 2))
        rows, columns = (
            build.add(tile.BroadcastOp(build.add(tile.ReduceOp("add", value, [dim])), [*batch, kept], result))
            for value, dim, kept in ((a, rank - 1, rank - 2), (rhs, rank - 2, rank - 1))
        )
        sums = build.with_number("mul", build.compute("add", rows, columns), 128)
        build.replace(build.compute("add", product, sums))


@dataclass(frozen=True)
class PrecisionOfChip(RewritePattern):
    """A rounding of f32 that Triton does not have for a chip → ``ieee``, which is as exact as any."""

    chip: GpuChip

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        precision = op.precision.data if op.precision is not None else "ieee"
        if tile.tile_type(op.lhs).element_type != f32 or precision in ("ieee", "bf16", *self.chip.precisions):
            return
        remark(op, f"Triton has no '{precision}' on {self.chip.name}: the product is exact, as by 'ieee'")
        op.precision = StringAttr("ieee")
        rewriter.notify_op_modified(op)


class BoolToInt8(RewritePattern):
    """``dot`` of ``i1`` → one of ``i8``, of ones and zeros."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        if i1 in _elements(op):
            _cast_operands(op, i8, rewriter)


class Float8ToHalf(RewritePattern):
    """``dot`` of ``f8E4M3FN`` → one of ``f16``: each number of the former is one of the latter."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        if any(isinstance(type, Float8E4M3FNType) for type in _elements(op)):
            _cast_operands(op, f16, rewriter)


def _elements(op: tile.DotOp) -> list[Attribute]:
    return [tile.tile_type(value).element_type for value in (op.lhs, op.rhs)]


def _cast_operands(op: tile.DotOp, element: Attribute, rewriter: PatternRewriter) -> None:
    build = Builder(op, rewriter=rewriter)
    lhs, rhs = (build.cast(value, element) for value in (op.lhs, op.rhs))
    build.replace(build.add(tile.DotOp(lhs, rhs, op.accumulator, tile.tile_type(op.result).element_type)))


class MergeBatches(RewritePattern):
    """Several batch dimensions → one: lanes keep their order, and masks are behind us, so tags may go."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.DotOp, rewriter: PatternRewriter, /) -> None:
        result = tile.tile_type(op.result)
        if result.rank <= 3:
            return
        build = Builder(op, rewriter=rewriter)
        operands = [build.add(tile.ReshapeOp(value, _one_batch(value))) for value in op.operands]
        acc = operands[2] if op.accumulator is not None else None
        precision = op.precision.data if op.precision is not None else None
        product = build.add(tile.DotOp(operands[0], operands[1], acc, result.element_type, precision))
        plain = tile.TileType([*result.shape[:-2], *result.dims.data[-2:]], result.element_type)
        build.replace(build.add(triton.RetagOp(build.add(tile.ReshapeOp(product, plain)), result)))


def _one_batch(value: SSAValue) -> tile.TileType:
    type = tile.tile_type(value)
    return tile.TileType([prod(type.shape[:-2]), *type.dims.data[-2:]], type.element_type)
