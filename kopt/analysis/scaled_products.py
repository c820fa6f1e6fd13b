"""Scaled products: those whose operands a chip's matrix unit multiplies with the scales of their groups. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import f32

from kopt.dialects.tile import DotOp, ScalingExtfOp, tile_type
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip

#: The formats that matrix units multiply with scales.
_FORMATS = ("e2m1", "e4m3", "e5m2")
#: Rows and columns that a product has at least, and how many lanes it sums over: what Triton widens where a block is
#: too small for the matrix unit stands in tensor memory, of 512 columns.
_LEAST, _SUMMED = 16, range(32, 512 + 1)
#: Rows and columns that blocks are chosen to have together, at most.
_MOST = 128 + 256


def scales_in_product(op: ScalingExtfOp, chip: GpuChip) -> bool:
    """Whether all that takes a scaled operand are products of the chip that scale it themselves."""
    uses = [use.operation for use in op.result.uses]
    return bool(uses) and all(isinstance(use, DotOp) and is_scaled(use, chip) for use in uses)


def is_scaled(op: DotOp, chip: GpuChip) -> bool:
    """Whether a product is one that the chip has for scaled operands, and a program shares blocks of them."""
    operands = scaled_operands(op)
    if operands is None or tile_type(op.result).element_type != f32:
        return False
    if min(tile_type(op.result).shape) < _LEAST or tile_type(op.lhs).shape[1] not in _SUMMED:
        return False
    bytes = max(tile_type(each.input).shape[each.dim.data] for each in operands)
    if not Budget(chip).shares(_MOST * bytes):
        return False
    return len({_kind(each) for each in operands}) == 1 and all(_is_taken(each, chip) for each in operands)


def scaled_operands(op: DotOp) -> tuple[ScalingExtfOp, ScalingExtfOp] | None:
    """What makes both operands of a product, where both are scaled along the dimension that it sums over."""
    lhs, rhs = op.lhs.owner, op.rhs.owner
    if isinstance(lhs, ScalingExtfOp) and isinstance(rhs, ScalingExtfOp) and (lhs.dim.data, rhs.dim.data) == (1, 0):
        return lhs, rhs
    return None


def _kind(op: ScalingExtfOp) -> tuple[str, int]:
    return str(tile_type(op.scale).element_type), op.group


def _is_taken(op: ScalingExtfOp, chip: GpuChip) -> bool:
    """Whether a matrix unit takes an operand: scales that are no powers of two are for numbers of 4 bits alone."""
    scale, group = _kind(op)
    fits = op.format.data in (_FORMATS if scale == "ui8" else _FORMATS[:1])
    return fits and chip.scales.get(scale) == group
