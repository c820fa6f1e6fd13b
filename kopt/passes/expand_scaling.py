"""The pass ``expand-scaling``: operands are multiplied by their scales, where a chip has no scaled products."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float8E4M3FNType, ModuleOp, f32, i32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from kopt.analysis.scaled_products import scales_in_product
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ConcatOp, DimAttr, ScalingExtfOp, tile_type
from kopt.targets.chips import CHIPS, GpuChip, chip_option
from kopt.walk import walk


@dataclass(frozen=True)
class ExpandScalingPass(ModulePass):
    """Expands each ``tile.scaling_extf`` into elementwise operations, unless products of the chip take it as it is.

    The products of a chip that has scaled ones (`GpuChip.scales`) take two such operands of 4 or 8 bits, a scale for
    as many neighbours as the chip has it for, and 16 rows and columns at least. There they stay, for
    ``tl.dot_scaled``.

        %w = tile.scaling_extf e4m3 %v, %s dim 1
    becomes
        %n = tile.cast %v to f32
        %e = tile.exp2 (%s - 127)         // NaN where %s is 255
        %f = each of %e for its group
        %w = tile.cast (%n * %f) to bf16

    It never refuses.
    """

    name = "expand-scaling"

    chip: str | None = chip_option(CHIPS, None)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chip = CHIPS[self.chip] if self.chip is not None else None
        for scaling in walk(op, ScalingExtfOp):
            if not (isinstance(chip, GpuChip) and scales_in_product(scaling, chip)):
                build = Builder(scaling)
                build.replace(_scaled(build, scaling))


def _scaled(build: Builder, op: ScalingExtfOp) -> SSAValue:
    """Numbers times factors in f32: rows are what has groups."""
    order = [1, 0] if op.dim.data == 0 else [0, 1]
    value = build.transpose(op.input, order)
    numbers = _unpacked(build, value) if op.numbers_each == 2 else build.cast(value, f32)
    rows, whole = tile_type(numbers).dims.data
    factors, groups = _factors(build, op.scale), tile_type(op.scale).dims.data[1]
    grouped = build.reshape(factors, [rows, groups, DimAttr(1)])
    each = build.spread(grouped, [rows, groups, DimAttr(op.group)], [0, 1, 2])
    product = build.compute("mul", numbers, build.reshape(each, [rows, whole]))
    return build.transpose(build.cast(product, tile_type(op.result).element_type), order)


def _factors(build: Builder, scale: SSAValue) -> SSAValue:
    """Scales as f32: powers of two by their exponents, or the numbers that they are."""
    wide = build.cast(scale, f32)
    if isinstance(tile_type(scale).element_type, Float8E4M3FNType):
        return wide
    power = build.compute("exp2", build.with_number("sub", wide, 127.0))
    return build.select(build.with_number("eq", scale, 255), build.full(float("nan"), power), power)


def _unpacked(build: Builder, bytes: SSAValue) -> SSAValue:
    """The numbers in the halves of bytes, twice as many along the last dimension."""
    wide = build.cast(bytes, i32)
    rows, columns = tile_type(bytes).dims.data
    halves = [build.with_number("and", wide, 15), build.with_number("shr", wide, 4)]
    pair = [build.reshape(_of_4_bits(build, half), [rows, columns, DimAttr(1)]) for half in halves]
    return build.reshape(build.add(ConcatOp(pair, 2)), [rows, DimAttr(2 * columns.size.data)])


def _of_4_bits(build: Builder, code: SSAValue) -> SSAValue:
    """0, 0.5, 1, 1.5, 2, 3, 4, 6 by the low three bits, negative where the fourth is set."""
    low = build.cast(build.with_number("and", code, 7), f32)
    above = build.select(build.with_number("lt", low, 7.0), build.with_number("sub", low, 2.0), build.full(6.0, low))
    size = build.select(build.with_number("lt", low, 5.0), build.with_number("mul", low, 0.5), above)
    return build.select(build.with_number("ge", code, 8), build.compute("neg", size), size)
