"""The jnp spelling of select, cast and bitcast."""

from __future__ import annotations

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, IntegerType, f32, i1
from xdsl.ir import Attribute, Operation

from kopt.dialects.pallas import BitcastRowsOp
from kopt.dialects.tile import BitcastOp, CastOp, SelectOp, element_of, is_float, tile_type
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.operands import spelt, where
from kopt.lowering.printer import Handler

#: Mosaic converts these to and from wider floats, and does nothing else with them.
_EIGHTS = (Float8E4M3FNType, Float8E5M2Type)


def _select(printing: PallasPrinter, op: SelectOp) -> None:
    if element_of(op.on_true) == i1:  # Mosaic has no select of predicates
        chosen = printing.spell("({0} & {1}) | (~{0} & {2})", op.condition, op.on_true, op.on_false)
    else:
        on_true, on_false = spelt(printing, (op.on_true, op.on_false))
        chosen = where(printing[op.condition], on_true, on_false, tile_type(op.result), printing)
    printing.define(op.result, chosen)


def _cast(printing: PallasPrinter, op: CastOp) -> None:
    printing.define(
        op.result, printing.spell(_template(element_of(op.input), element_of(op.result), printing), op.input)
    )


def _template(source: Attribute, target: Attribute, printing: PallasPrinter) -> str:
    if source == target:
        return "{0}"
    if target == i1:
        return "{0}.astype(jnp.float32) != 0" if isinstance(source, _EIGHTS) else "{0} != 0"
    if isinstance(target, Float8E4M3FNType):  # which has no infinity: what is beyond becomes the largest number
        wide = "{0}" if source == f32 else _template(source, f32, printing)
        return f"jnp.minimum(jnp.maximum({wide}, -448.0), 448.0).astype({printing.dtype(target)})"
    steps = [printing.dtype(step) for step in [*_by_way_of(source, target), target]]
    return "{0}" + "".join(f".astype({step})" for step in steps)


def _by_way_of(source: Attribute, target: Attribute) -> list[Attribute]:
    """The types between source and target: what torch rounds through, and what Mosaic cannot convert at once.

    Narrow integers are converted by way of i32, whose low bits stay; narrow floats from integers by way of f32; narrow
    integers from predicates by way of both: Mosaic makes one step of two that only extend and cut bits. Floats from
    predicates go by way of i32, as Mosaic goes itself: of a predicate's own conversion times ``x`` XLA makes a select,
    which is 0 where ``x`` is no number.
    """
    if source == i1 and isinstance(target, IntegerType) and target.width.data < 32:
        return [f32, IntegerType(32)]
    if source == i1 and is_float(target):
        return [IntegerType(32), *([f32] if _bits(target) < 32 else [])]
    if is_float(source) and isinstance(target, IntegerType) and target.width.data < 32:
        return [IntegerType(32)]
    if isinstance(source, IntegerType) and is_float(target) and _bits(target) < 32:
        return [f32]
    return [f32] if isinstance(source, _EIGHTS) and isinstance(target, _EIGHTS) else []


def _bits(element: Attribute) -> int:
    return element.bitwidth  # pyright: ignore[reportAttributeAccessIssue]


def _bitcast(printing: PallasPrinter, op: BitcastOp) -> None:
    text = f"jax.lax.bitcast_convert_type({{0}}, {printing.dtype(element_of(op.result))})"
    printing.define(op.result, printing.spell(text, op.input))


def _bitcast_rows(printing: PallasPrinter, op: BitcastRowsOp) -> None:
    printing.define(
        op.result, printing.spell(f"pltpu.bitcast({{0}}, {printing.dtype(element_of(op.result))})", op.input)
    )


HANDLERS: dict[type[Operation], Handler] = {
    SelectOp: _select,
    CastOp: _cast,
    BitcastOp: _bitcast,
    BitcastRowsOp: _bitcast_rows,
}
