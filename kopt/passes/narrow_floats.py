"""The pass ``narrow-floats``: what is computed of bf16 and rounded to bf16 is computed in bf16."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, bf16, f32
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ROUNDED_ONCE,
    CastOp,
    ElementwiseOp,
    FullOp,
    element_of,
    literal,
    literal_value,
    tile_type,
)
from kopt.passes.rewriting import walk_and_apply_patterns
from kopt.targets.chips import TPU_CHIPS, chip_option
from kopt.targets.tiling import LANES, SUBLANES


@dataclass(frozen=True)
class NarrowFloatsPass(ModulePass):
    """Computes sums, differences, products, maxima, minima, negations and absolute values of bf16 numbers in bf16.

        %x = tile.cast %a : … bf16 to … f32   %y = tile.cast %b : … bf16 to … f32
        %z = tile.mul %x, %y : … f32          %r = tile.cast %z : … f32 to … bf16
    becomes
        %r = tile.mul %a, %b : … bf16

    The result is the same, bit for bit: f32 has more than twice the digits of bf16, so rounding its sum or product once
    more gives what rounding the exact one gives (Figueroa, "When is double rounding innocuous?", 1995); subnormal
    numbers, where this does not hold, are 0 on a TPU. A register holds twice as many numbers of bf16, which need no
    conversion. Constants must be numbers of bf16. Values that others need in f32 stay, and blocks that fill no
    register; all does where ``chip`` computes with f32 in the place of bf16.
    """

    name = "narrow-floats"

    chip: str = chip_option(TPU_CHIPS, "tpu7x")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if TPU_CHIPS[self.chip].bf16_vectors:
            walk_and_apply_patterns(op, {CastOp: (_ComputeInBf16(),)})


class _ComputeInBf16(RewritePattern):
    """A rounded result of numbers that were widened, or that are constants."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter, /) -> None:
        wide = op.input.owner
        if element_of(op.result) != bf16 or element_of(op.input) != f32 or not op.input.has_one_use():
            return
        if not isinstance(wide, ElementwiseOp) or wide.ROW.rule is not ROUNDED_ONCE or not _fills_registers(op.result):
            return
        if any(isinstance(value.owner, CastOp) for value in wide.inputs) and all(map(_is_bf16, wide.inputs)):
            build = Builder(op, rewriter=rewriter)
            build.replace(build.compute(wide.ROW.name, *(_in_bf16(build, value) for value in wide.inputs)))


def _fills_registers(value: SSAValue) -> bool:
    """Whether a block has the rows and lanes of a register of bf16."""
    shape = tile_type(value).shape
    return len(shape) > 1 and shape[-2] >= 2 * SUBLANES and shape[-1] >= LANES


def _is_bf16(value: SSAValue) -> bool:
    """Whether a value is a widened one, or a constant that bf16 has."""
    match value.owner:
        case CastOp() as cast:
            return element_of(cast.input) == bf16
        case FullOp() as full:
            return literal_value(literal(full.number, bf16)) == full.number
        case _:
            return False


def _in_bf16(build: Builder, value: SSAValue) -> SSAValue:
    """Such a value as bf16."""
    owner = value.owner
    if isinstance(owner, FullOp):
        return build.full(owner.number, value, bf16)
    assert isinstance(owner, CastOp)
    return owner.input
