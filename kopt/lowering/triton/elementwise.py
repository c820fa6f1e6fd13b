"""How Triton spells the elementwise ops: one table with the keys of ``kopt.dialects.tile.TABLE``.

``Call("tl.exp")`` is a function of Triton; a name that starts with an underscore is one of the helper functions of
`helpers`, which the emitted module then defines. Triton's own ``/``, ``sqrt`` and maxima are approximate or lose NaN,
so the exact forms are named. Integer and float forms differ where Python's meaning is not C's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type, IntegerType, f32, f64, i1, i32
from xdsl.ir import Attribute, SSAValue

from kopt.dialects import tile
from kopt.lowering.triton.expressions import (
    AND,
    COMPARE,
    OR,
    PRODUCT,
    SHIFT,
    SUM,
    XOR,
    Expr,
    call,
    infix,
    method,
    number,
    prefix,
)
from kopt.lowering.triton.kernel import Handler, TritonPrinter


@dataclass(frozen=True)
class Infix:
    """An operator between two operands."""

    operator: str
    strength: int


@dataclass(frozen=True)
class Prefix:
    """An operator before its operand."""

    operator: str


@dataclass(frozen=True)
class Call:
    """A function of Triton or a helper; ``extra`` stands after the operands."""

    function: str
    extra: str = ""


@dataclass(frozen=True)
class Twice:
    """An operator between an operand and itself."""

    operator: str
    strength: int


Spelling = Infix | Prefix | Call | Twice

_NAN = "propagate_nan=tl.PropagateNan.ALL"
_NO_NAN = "propagate_nan=tl.PropagateNan.NONE"

#: Spelling by name; a mapping picks by kind of element type: f32, f64, int, uint or bool, else ``float``, ``any``.
SPELLINGS: dict[str, Spelling | dict[str, Spelling]] = {
    "neg": Prefix("-"),
    "abs": Call("tl.abs"),
    "sign": {"uint": Call("_unsigned_sign"), "any": Call("_sign")},
    "add": Infix("+", SUM),
    "sub": Infix("-", SUM),
    "mul": Infix("*", PRODUCT),
    "div": {"f32": Call("tl.div_rn"), "f64": Infix("/", PRODUCT)},
    "floordiv": {"uint": Infix("//", PRODUCT), "int": Call("_floordiv"), "any": Call("_float_floordiv")},
    "truncdiv": {"float": Call("_float_truncdiv"), "any": Infix("//", PRODUCT)},
    "mod": {"uint": Infix("%", PRODUCT), "int": Call("_mod"), "any": Call("_float_mod")},
    "rem": {"float": Call("_fmod"), "any": Infix("%", PRODUCT)},
    "pow": {"float": Call("_pow"), "any": Call("_int_pow")},
    "maximum": {"float": Call("tl.maximum", _NAN), "any": Call("tl.maximum")},
    "minimum": {"float": Call("tl.minimum", _NAN), "any": Call("tl.minimum")},
    "fmax": Call("tl.maximum", _NO_NAN),
    "fmin": Call("tl.minimum", _NO_NAN),
    "atan2": Call("_atan2"),
    "copysign": Call("_copysign"),
    "fma": Call("tl.fma"),
    "exp": Call("tl.exp"),
    "exp2": Call("tl.exp2"),
    "expm1": Call("_expm1"),
    "log": Call("tl.log"),
    "log2": Call("tl.log2"),
    "log10": Call("_log10"),
    "log1p": Call("_log1p"),
    "sqrt": {"f32": Call("tl.sqrt_rn"), "f64": Call("tl.sqrt")},
    "rsqrt": Call("tl.rsqrt"),
    "reciprocal": Call("_reciprocal"),
    "sin": Call("tl.sin"),
    "cos": Call("tl.cos"),
    "tan": Call("_tan"),
    "asin": Call("_asin"),
    "acos": Call("_acos"),
    "atan": Call("_atan"),
    "sinh": Call("_sinh"),
    "cosh": Call("_cosh"),
    "tanh": Call("_tanh"),
    "asinh": Call("_asinh"),
    "acosh": Call("_acosh"),
    "atanh": Call("_atanh"),
    "erf": Call("tl.erf"),
    "sigmoid": Call("_sigmoid"),
    "floor": Call("tl.floor"),
    "ceil": Call("tl.ceil"),
    "round": Call("_round"),
    "trunc": Call("_trunc"),
    "not": Prefix("~"),
    "and": Infix("&", AND),
    "or": Infix("|", OR),
    "xor": Infix("^", XOR),
    "shl": Infix("<<", SHIFT),
    "shr": Infix(">>", SHIFT),
    "eq": Infix("==", COMPARE),
    "ne": Infix("!=", COMPARE),
    "lt": Infix("<", COMPARE),
    "le": Infix("<=", COMPARE),
    "gt": Infix(">", COMPARE),
    "ge": Infix(">=", COMPARE),
    "isnan": Twice("!=", COMPARE),
    "isinf": Call("_isinf"),
}


def _kinds(type: Attribute) -> tuple[str, ...]:
    """The keys under which a spelling for an element type may stand, most special first."""
    if type in (f32, f64):
        return ("f32" if type == f32 else "f64", "float", "any")
    assert isinstance(type, IntegerType)
    if type == i1:
        return ("bool", "uint", "any")
    return ("uint" if type.signedness.data.name == "UNSIGNED" else "int", "any")


def spelling(name: str, type: Attribute) -> Spelling:
    """The spelling of an op for operands of an element type."""
    found = SPELLINGS[name]
    if not isinstance(found, dict):
        return found
    return next(found[kind] for kind in _kinds(type) if kind in found)


def print_elementwise(kernel: TritonPrinter, op: tile.ElementwiseOp) -> None:
    """One row of the table."""
    if not op.result.uses:
        return
    spelt = spelling(op.ROW.name, tile.tile_type(op.inputs[0]).element_type)
    if isinstance(spelt, Twice):
        operand = kernel.named(op.inputs[0])
        kernel.define(op.result, infix(spelt.operator, spelt.strength, operand, operand))
        return
    operands = _operands(kernel, op.inputs, spelt)
    if isinstance(spelt, Infix):
        kernel.define(op.result, infix(spelt.operator, spelt.strength, *operands))
    elif isinstance(spelt, Prefix):
        kernel.define(op.result, prefix(spelt.operator, operands[0]))
    else:
        function = kernel.helper(spelt.function) if spelt.function.startswith("_") else spelt.function
        kernel.define(op.result, call(function, operands, spelt.extra))


def _operands(kernel: TritonPrinter, values: Sequence[SSAValue], spelt: Spelling) -> list[Expr]:
    """Operands as Triton needs them: at least one typed, and all where a function would guess a literal's type wrong.

    Operators take a literal in the other operand's type; functions make it f32 or i32 first. Helpers ask operands
    for their type, which literals do not have; blocks of one lane work in Triton's interpreter, too.
    """
    operands = [kernel[value] for value in values]
    helper = isinstance(spelt, Call) and spelt.function.startswith("_")
    guessed = isinstance(spelt, Infix) or tile.tile_type(values[0]).element_type in (f32, i32)
    if helper:
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
    guessed = tile.tile_type(op.on_true).element_type in (f32, i32)
    if not guessed and all(branch.literal is not None for branch in branches):
        branches[0] = kernel.typed(op.on_true)
    kernel.define(op.result, call("tl.where", [condition, *branches]))


#: Casts to fp8 are torch's, whatever the conversions of a GPU do beyond the range.
_TO_FP8: dict[type[Attribute], str] = {Float8E4M3FNType: "_to_e4m3", Float8E5M2Type: "_to_e5m2"}


def print_cast(kernel: TritonPrinter, op: tile.CastOp) -> None:
    """``v.to(tl.float32)``; to a boolean it is ``v != 0``. From fp8 to integers Triton has no cast: by f32."""
    source = kernel.typed(op.input)
    kind, target = tile.tile_type(op.input).element_type, tile.tile_type(op.result).element_type
    if _is_fp8(target) and kind != target:
        kernel.define(op.result, call(kernel.helper(_TO_FP8[type(target)]), [source]))
        return
    if _is_fp8(kind) and isinstance(target, IntegerType):
        source = method(source, f"to({kernel.dtype(f32)})")
    if target == i1:
        kernel.define(op.result, infix("!=", COMPARE, source, number(0)))
        return
    kernel.define(op.result, method(source, f"to({kernel.dtype(target)})"))


def _is_fp8(type: Attribute) -> bool:
    return isinstance(type, Float8E4M3FNType | Float8E5M2Type)


def print_bitcast(kernel: TritonPrinter, op: tile.BitcastOp) -> None:
    """``v.to(tl.int32, bitcast=True)``."""
    target = kernel.dtype(tile.tile_type(op.result).element_type)
    kernel.define(op.result, method(kernel.typed(op.input), f"to({target}, bitcast=True)"))


HANDLERS: dict[type, Handler] = {
    **dict.fromkeys(tile.ELEMENTWISE.values(), print_elementwise),
    tile.SelectOp: print_select,
    tile.CastOp: print_cast,
    tile.BitcastOp: print_bitcast,
}
