"""Small helpers that the tables of spellings share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from kopt.dialects.tile import FullOp, TileType, element_of, is_float
from kopt.lowering.expr import Expr, spell
from kopt.lowering.pallas.printing import PallasPrinter


def constant(value: SSAValue) -> FullOp | None:
    """The `tile.full` that makes a value, or None."""
    return value.owner if isinstance(value.owner, FullOp) else None


def spelt(printing: PallasPrinter, values: Sequence[SSAValue]) -> list[Expr]:
    """The operands of an elementwise expression: constants as numbers, as long as one operand is an array.

    Numbers take the array's dtype, so nothing is promoted. Booleans stay arrays: ``~True`` is -2.
    """
    fulls = {value: full for value in values if (full := constant(value)) and spelt_as_number(value, values)}
    return [printing.literal(fulls[value].value) if value in fulls else printing[value] for value in values]


def where(condition: Expr, on_true: Expr, on_false: Expr, type: TileType, printing: PallasPrinter) -> Expr:
    """``jnp.where`` of spelt operands. Vectors below 32 bits in 32: Mosaic does not repack masks of lane numbers."""
    element, operands = type.element_type, [on_true, on_false]
    if type.rank != 1 or element.bitwidth >= 32:  # pyright: ignore[reportAttributeAccessIssue]
        return spell("jnp.where({0}, {1}, {2})", condition, *operands)
    wide = "jnp.float32" if is_float(element) else "jnp.int32"
    operands = [spell(f"{{0}}.astype({wide})", one) if one.literal is None else one for one in operands]
    return spell(f"jnp.where({{0}}, {{1}}, {{2}}).astype({printing.dtype(element)})", condition, *operands)


def spelt_as_number(value: SSAValue, values: Sequence[SSAValue]) -> bool:
    """Whether `spelt` gives a constant among ``values`` as a number."""
    return element_of(value) != i1 and not all(constant(other) for other in values)


def shape_text(shape: Sequence[int]) -> str:
    """``(128,)``, ``(8, 64)``, ``()``."""
    return repr(tuple(shape))
