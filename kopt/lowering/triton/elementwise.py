"""How Triton spells the elementwise ops: one table with the keys of ``kopt.dialects.tile.TABLE``.

``"tl.exp({0})"`` is a function of Triton; a name that starts with an underscore is one of the helper functions of
`helpers`, which the emitted module then defines. Triton's own ``/``, ``sqrt`` and maxima are approximate or lose NaN,
so the exact forms are named. Integer and float forms differ where Python's meaning is not C's.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, IntegerType, bf16, f16, f32, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects import tile, triton
from kopt.lowering.expr import ATOM, Expr, template
from kopt.lowering.printer import Handler, template_of
from kopt.lowering.triton.kernel import TritonPrinter

_NAN = "propagate_nan=tl.PropagateNan.ALL"
_NO_NAN = "propagate_nan=tl.PropagateNan.NONE"

#: Template by row name; ``name.kind`` wins over ``name``.
TEMPLATES: dict[str, str] = {
    "neg": "-{0}",
    "abs": "tl.abs({0})",
    "sign": "_sign({0})",
    "sign.uint": "_unsigned_sign({0})",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div.f32": "tl.div_rn({0}, {1})",
    "div.f64": "{0} / {1}",
    "floordiv": "_float_floordiv({0}, {1})",
    "floordiv.uint": "{0} // {1}",
    "floordiv.int": "_floordiv({0}, {1})",
    "truncdiv": "{0} // {1}",
    "truncdiv.float": "_float_truncdiv({0}, {1})",
    "mod": "_float_mod({0}, {1})",
    "mod.uint": "{0} % {1}",
    "mod.int": "_mod({0}, {1})",
    "rem": "{0} % {1}",
    "rem.float": "_fmod({0}, {1})",
    "pow": "_int_pow({0}, {1})",
    "pow.float": "_pow({0}, {1})",
    "maximum": "tl.maximum({0}, {1})",
    "maximum.float": f"tl.maximum({{0}}, {{1}}, {_NAN})",
    "minimum": "tl.minimum({0}, {1})",
    "minimum.float": f"tl.minimum({{0}}, {{1}}, {_NAN})",
    "fmax": f"tl.maximum({{0}}, {{1}}, {_NO_NAN})",
    "fmin": f"tl.minimum({{0}}, {{1}}, {_NO_NAN})",
    "atan2": "_atan2({0}, {1})",
    "copysign": "_copysign({0}, {1})",
    "fma": "tl.fma({0}, {1}, {2})",
    "exp": "tl.exp({0})",
    "exp2": "tl.exp2({0})",
    "expm1": "_expm1({0})",
    "log": "tl.log({0})",
    "log2": "tl.log2({0})",
    "log10": "_log10({0})",
    "log1p": "_log1p({0})",
    "sqrt.f32": "tl.sqrt_rn({0})",
    "sqrt.f64": "tl.sqrt({0})",
    "rsqrt": "tl.rsqrt({0})",
    "reciprocal": "_reciprocal({0})",
    "sin": "tl.sin({0})",
    "cos": "tl.cos({0})",
    "tan": "_tan({0})",
    "asin": "_asin({0})",
    "acos": "_acos({0})",
    "atan": "_atan({0})",
    "sinh": "_sinh({0})",
    "cosh": "_cosh({0})",
    "tanh": "_tanh({0})",
    "asinh": "_asinh({0})",
    "acosh": "_acosh({0})",
    "atanh": "_atanh({0})",
    "erf": "tl.erf({0})",
    "sigmoid": "_sigmoid({0})",
    "floor": "tl.floor({0})",
    "ceil": "tl.ceil({0})",
    "round": "_round({0})",
    "trunc": "_trunc({0})",
    "not": "~{0}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "isnan": "{0} != {0}",
    "isinf": "_isinf({0})",
}

#: Templates of f32 for ops of which a result rounded to 16 bits shows nothing: within some ulp of the exact ones.
APPROXIMATE_TEMPLATES: dict[str, str] = {
    "div": "{0} / {1}",
    "log1p": "_fast_log1p({0})",
    "pow": "_fast_pow({0}, {1})",
    "reciprocal": "1.0 / {0}",
    "sigmoid": "tl.sigmoid({0})",
    "tan": "tl.sin({0}) / tl.cos({0})",
    "tanh": "_fast_tanh({0})",
}


def print_elementwise(kernel: TritonPrinter, op: tile.ElementwiseOp) -> None:
    """One row of the table."""
    if not op.result.uses:
        return
    is_approximate = triton.APPROXIMATE in op.attributes
    spelt = APPROXIMATE_TEMPLATES[op.ROW.name] if is_approximate else template_of(TEMPLATES, op)
    if template(spelt).is_repeated(0):
        kernel.named(op.inputs[0])
    operands = _operands(kernel, op.inputs, spelt)
    if tile.tile_type(op.inputs[0]).element_type == bf16:  # the interpreter would take the bits
        operands = [kernel.spelt(f"{{0}}.to({kernel.dtype(f32)})", kernel.typed(value)) for value in op.inputs]
    if tile.tile_type(op.result).element_type == bf16:
        spelt = f"({spelt}).to({kernel.dtype(bf16)})"
    kernel.define(op.result, kernel.spelt(spelt, *operands))


def _operands(kernel: TritonPrinter, values: Sequence[SSAValue], spelt: str) -> list[Expr]:
    """Operands as Triton needs them: at least one typed, and all where a function would guess a literal's type wrong.

    Operators take a literal in the other operand's type; functions make it f32 or i32 first. Helpers ask operands
    for their type, which literals do not have; blocks of one lane work in Triton's interpreter, too.
    """
    operands = [kernel[value] for value in values]
    guessed = template(spelt).strength < ATOM or tile.tile_type(values[0]).element_type in (f32, i32)
    if template(spelt).helpers:
        return [kernel.typed(v) if kernel[v].literal is None else kernel.whole(v, ()) for v in values]
    if not guessed:
        return [kernel.typed(value) for value in values]
    if all(operand.literal is not None for operand in operands):
        operands[0] = kernel.typed(values[0])
    return operands


def print_select(kernel: TritonPrinter, op: tile.SelectOp) -> None:
    """``tl.where(c, a, b)``, which takes literals in the other branch's type."""
    condition = kernel.typed(op.condition)
    branches = [kernel[op.on_true], kernel[op.on_false]]
    element = tile.tile_type(op.on_true).element_type
    guessed = element in (f32, i32)
    if kernel.is_bytes(element):
        branches = [kernel.typed(op.on_true), kernel.typed(op.on_false)]
    elif not guessed and all(branch.literal is not None for branch in branches):
        branches[0] = kernel.typed(op.on_true)
    kernel.define(op.result, kernel.spelt("tl.where({0}, {1}, {2})", condition, *branches))


#: Casts to fp8 are torch's, whatever the conversions of a GPU do beyond the range.
_TO_FP8: dict[type[Attribute], str] = {Float8E4M3FNType: "_to_e4m3({0})", Float8E5M2Type: "_to_e5m2({0})"}


def print_cast(kernel: TritonPrinter, op: tile.CastOp) -> None:
    """``v.to(tl.float32)``; to a boolean it is ``v != 0``. From fp8 to integers Triton has no cast: by f32.

    Bytes that stand for float8_e4m3fn become f16 first, which has all of its numbers.
    """
    source = kernel.typed(op.input)
    kind, target = tile.tile_type(op.input).element_type, tile.tile_type(op.result).element_type
    if kind != target and kernel.is_bytes(kind):
        kind, source = f16, kernel.spelt("_from_e4m3_bytes({0})", source)
    if _is_fp8(target) and kind != target:
        spelt = "_to_e4m3_bytes({0})" if kernel.is_bytes(target) else _TO_FP8[type(target)]
        kernel.define(op.result, kernel.spelt(spelt, source))
        return
    if _is_fp8(kind) and isinstance(target, IntegerType):
        source = kernel.spelt(f"{{0}}.to({kernel.dtype(f32)})", source)
    if target == i1:
        kernel.define(op.result, kernel.spelt("{0} != 0", source))
        return
    kernel.define(op.result, kernel.spelt(f"{{0}}.to({kernel.dtype(target)})", source))


def _is_fp8(type: Attribute) -> bool:
    return isinstance(type, Float8E4M3FNType | Float8E5M2Type)


def print_bitcast(kernel: TritonPrinter, op: tile.BitcastOp) -> None:
    """``v.to(tl.int32, bitcast=True)``."""
    target = kernel.dtype(tile.tile_type(op.result).element_type)
    kernel.define(op.result, kernel.spelt(f"{{0}}.to({target}, bitcast=True)", kernel.typed(op.input)))


HANDLERS: dict[type[Operation], Handler] = {
    **dict.fromkeys(tile.ELEMENTWISE.values(), print_elementwise),
    tile.SelectOp: print_select,
    tile.CastOp: print_cast,
    tile.BitcastOp: print_bitcast,
}
