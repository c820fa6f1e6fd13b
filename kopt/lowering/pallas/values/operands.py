"""Small helpers that the tables of spellings share."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, SSAValue

from kopt.dialects.tile import FullOp, TileType, element_of, is_float
from kopt.lowering.pallas.printing import PallasPrinter


def kind_of(element: Attribute) -> str:
    """The kind of arithmetic of an element type: ``float``, ``int``, ``uint`` or ``bool``."""
    if is_float(element):
        return "float"
    assert isinstance(element, IntegerType)
    if element == i1:
        return "bool"
    return "uint" if element.signedness.data.name == "UNSIGNED" else "int"


def constant(value: SSAValue) -> FullOp | None:
    """The `tile.full` that makes a value, or None."""
    return value.owner if isinstance(value.owner, FullOp) else None


def spell(printing: PallasPrinter, values: Sequence[SSAValue]) -> list[str]:
    """The operands of an elementwise expression: constants as numbers, as long as one operand is an array.

    Numbers take the array's dtype, so nothing is promoted. Booleans stay arrays: ``~True`` is -2.
    """
    if all(constant(value) for value in values):
        return [printing.name(value) for value in values]
    return [_operand(printing, value) for value in values]


def where(condition: str, on_true: str, on_false: str, type: TileType, printing: PallasPrinter) -> str:
    """``jnp.where`` of spelt operands. Vectors below 32 bits in 32: Mosaic does not repack masks of lane numbers."""
    element = type.element_type
    if type.rank != 1 or element.bitwidth >= 32:  # pyright: ignore[reportAttributeAccessIssue]
        return f"jnp.where({condition}, {on_true}, {on_false})"
    wide = "jnp.float32" if is_float(element) else "jnp.int32"
    values = ", ".join(f"{text}.astype({wide})" if text.isidentifier() else text for text in (on_true, on_false))
    return f"jnp.where({condition}, {values}).astype({printing.dtype(element)})"


def spelt_as_number(value: SSAValue, values: Sequence[SSAValue]) -> bool:
    """Whether `spell` gives a constant among ``values`` as a number."""
    return element_of(value) != i1 and not all(constant(other) for other in values)


def _operand(printing: PallasPrinter, value: SSAValue) -> str:
    full = constant(value)
    if full is None or element_of(value) == i1:
        return printing.name(value)
    text = printing.literal(full.value)
    return f"({text})" if text.startswith("-") else text


def shape_text(shape: Sequence[int]) -> str:
    """``(128,)``, ``(8, 64)``, ``()``."""
    return repr(tuple(shape))
