"""Canonicalisations of elementwise ops: what is exact in the op's own type, and nothing else.

add(full 2, full 3) → full 5            integers wrap; f32 and f64 round once, as the device does
x + 0 → x    x * 1 → x                  integers
x * 1.0, x / 1.0, x - 0.0, x + -0.0 → x floats
x + 0.0 → x                             only where no lane of x is -0.0, as in squares and exponentials
not(not x) → x
select(true, a, b) → a    select(c, a, a) → a   where what goes has no invalid lanes that its type does not tell
cast of the same type → x
cast(cast x) → x                        only where the first is to a wider type and the second comes back
"""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable
from typing import Any

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from kopt.dialects.canonicalization.rules import Replacement, Rule
from kopt.dialects.canonicalization.validity import tells_validity
from kopt.dialects.canonicalization.zero_signs import is_unsigned
from kopt.dialects.tile.constants import FullOp
from kopt.dialects.tile.elementwise import ELEMENTWISE, CastOp, ElementwiseOp, SelectOp
from kopt.dialects.tile.types import TileType, tile_type
from kopt.dialects.tile.values import is_float
from kopt.dtypes import from_ir

Number = float | int


def constant(value: SSAValue) -> Number | None:
    """The number in every lane of a value, where it is known."""
    return value.owner.number if isinstance(value.owner, FullOp) else None


def is_number(value: SSAValue, number: Number) -> bool:
    """Whether a value is known to be ``number``, the sign of zero included."""
    found = constant(value)
    return found is not None and found == number and math.copysign(1, found) == math.copysign(1, number)


def _pick(choose: Callable[[Number, Number], Number]) -> Callable[[Number, Number], Number | None]:
    """The larger or smaller; NaN if either is. Which zero it is, of two that differ in sign, is left to the device."""

    def pick(a: Number, b: Number) -> Number | None:
        if a != a or b != b:
            return math.nan
        return None if a == b and math.copysign(1, a) != math.copysign(1, b) else choose(a, b)

    return pick


def _divide(a: Number, b: Number) -> Number | None:
    return a / b if b else None


def _divide_down(a: Number, b: Number) -> Number | None:
    return a // b if b and isinstance(a, int) else None


def _modulo(a: Number, b: Number) -> Number | None:
    return a % b if b and isinstance(a, int) else None


def _shift(shift: Callable[[int, int], int]) -> Callable[[int, int], int | None]:
    return lambda a, b: shift(a, b) if 0 <= b < 8 else None


#: What is computed on numbers; None where it is left to the device.
_FOLD: dict[str, Callable[..., Any]] = {
    "neg": operator.neg,
    "abs": abs,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "floordiv": _divide_down,
    "mod": _modulo,
    "maximum": _pick(max),
    "minimum": _pick(min),
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": _shift(operator.lshift),
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def _fold(op: ElementwiseOp) -> Replacement:
    """An op on constants is a constant."""
    compute = _FOLD.get(op.ROW.name)
    numbers = [constant(value) for value in op.inputs]
    type = op.result.type
    if compute is None or any(number is None for number in numbers) or not isinstance(type, TileType):
        return None
    found = compute(*numbers)
    if found is None or (is_float(type.element_type) and _overflows(found, type.element_type)):
        return None
    return FullOp(found, type)


def _overflows(number: Number, type: Attribute) -> bool:
    """Whether a finite result of f64 arithmetic does not fit f32 or bf16: the device decides what becomes of it."""
    return isinstance(type, Float32Type | BFloat16Type) and math.isfinite(number) and abs(number) > 3.4028234e38


#: Operand number and the number that makes an op on it do nothing, for integers and for floats.
_NEUTRAL: dict[str, tuple[tuple[int, Number | None, Number | None], ...]] = {
    "add": ((0, 0, -0.0), (1, 0, -0.0)),
    "sub": ((1, 0, 0.0),),
    "mul": ((0, 1, 1.0), (1, 1, 1.0)),
    "div": ((1, None, 1.0),),
    "or": ((0, 0, None), (1, 0, None)),
    "xor": ((0, 0, None), (1, 0, None)),
    "shl": ((1, 0, None),),
    "shr": ((1, 0, None),),
    "floordiv": ((1, 1, None),),
}


def _drop_neutral(op: ElementwiseOp) -> Replacement:
    """``x + 0 → x``, by the table; of floats without a sign ``x + 0.0 → x``, too."""
    floats = is_float(tile_type(op.result).element_type)
    for position, integer, real in _NEUTRAL.get(op.ROW.name, ()):
        number, other = (real if floats else integer), op.inputs[1 - position]
        if number is not None and is_number(op.inputs[position], number):
            return other
        if floats and op.ROW.name == "add" and is_number(op.inputs[position], 0.0) and is_unsigned(other):
            return other
    return None


def _known_condition(op: ElementwiseOp) -> Replacement:
    """``x and true → x``, ``x and false → false``, and ``or`` by turns."""
    if _element(op.result) == i1:
        for value, other in (tuple(op.inputs), tuple(op.inputs)[::-1]):
            if (number := constant(value)) is not None:
                return other if bool(number) == (op.ROW.name == "and") else value
    return None


def _not_not(op: ElementwiseOp) -> Replacement:
    """``not(not x) → x``."""
    inner = op.inputs[0].owner
    return inner.inputs[0] if isinstance(inner, ELEMENTWISE["not"]) else None


def _known_select(op: SelectOp) -> Replacement:
    """A select whose condition is known, or does not matter. Its lanes are valid where those of all operands are."""
    number = constant(op.condition)
    if op.on_true == op.on_false:
        kept, gone = op.on_true, op.condition
    elif number is not None:
        kept, gone = (op.on_true, op.on_false) if number else (op.on_false, op.on_true)
    else:
        return None
    return kept if tells_validity(gone) else None


def _element(value: SSAValue) -> Attribute:
    return tile_type(value).element_type


def _same_cast(op: CastOp) -> Replacement:
    """A cast to the same type."""
    return op.input if op.input.type == op.result.type else None


def _widened_cast(op: CastOp) -> Replacement:
    """``cast(cast x)``, the first to a wider type: back again is ``x``, further on is one cast."""
    inner = op.input.owner
    if not isinstance(inner, CastOp) or not widens(_element(inner.input), _element(op.input)):
        return None
    if op.result.type == inner.input.type:
        return inner.input
    return CastOp(inner.input, _element(op.result)) if widens(_element(op.input), _element(op.result)) else None


#: Bits of the exponent and of the fraction of a floating-point type.
_PARTS = {"f8E4M3FN": (4, 3), "f8E5M2": (5, 2), "f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}


def widens(source: Attribute, target: Attribute) -> bool:
    """Whether every value of an element type is a value of another."""
    before, after = from_ir(source), from_ir(target)
    if before is None or after is None or after.kind == "bool":
        return False
    if before.is_float:
        return after.is_float and all(a <= b for a, b in zip(_PARTS[before.spec], _PARTS[after.spec], strict=True))
    if before.kind == "bool":
        return True
    if after.is_float:
        exponent, fraction = _PARTS[after.spec]
        return before.bits <= min(fraction + 1, 2 ** (exponent - 1) - 1)
    return (before.bits < after.bits) if before.kind != "int" or after.kind == "int" else False


def _cast_constant(op: CastOp) -> Replacement:
    """The cast of a constant that the new type has exactly; rounding is left to the device."""
    number, target = constant(op.input), _element(op.result)
    if number is None or not isinstance(op.result.type, TileType):
        return None
    if target == i1:
        return FullOp(int(number != 0), op.result.type)
    return FullOp(number, op.result.type) if holds(target, number) else None


#: How ``struct`` packs a type, and how many of its last bits a value has to leave 0.
_PACKED = {Float64Type: ("<d", 0), Float32Type: ("<f", 0), Float16Type: ("<e", 0), BFloat16Type: ("<f", 16)}


def holds(type: Attribute, number: Number) -> bool:
    """Whether an element type has a number exactly (NaN and infinities where it has them)."""
    if isinstance(type, IntegerType):
        limit = 1 << type.width.data
        low, high = (0, limit) if type.signedness.data.name == "UNSIGNED" else (-limit // 2, limit // 2)
        return math.isfinite(number) and number == int(number) and low <= number < high
    packing = next((packing for kind, packing in _PACKED.items() if isinstance(type, kind)), None)
    if packing is None:
        return False
    try:
        bits = struct.pack(packing[0], float(number))
    except OverflowError:
        return False
    (read,) = struct.unpack(packing[0], bits)
    tail = int.from_bytes(bits, "little") & ((1 << packing[1]) - 1)
    return number != number or (read == number and tail == 0)


#: The rules of each op.
RULES: dict[type[Operation], tuple[Rule, ...]] = {
    **{op: (_fold, _drop_neutral) for name, op in ELEMENTWISE.items() if name in {*_FOLD, *_NEUTRAL}},
    **{ELEMENTWISE[name]: (_fold, _drop_neutral, _known_condition) for name in ("and", "or")},
    ELEMENTWISE["not"]: (_not_not,),
    SelectOp: (_known_select,),
    CastOp: (_same_cast, _widened_cast, _cast_constant),
}
