"""f16 in a kernel: values are held in f32, and rounded as f16 is where the source rounds."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import StringAttr, f16, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.exact_numbers import ExactNumbers
from kopt.analysis.wide_facts import MOVES
from kopt.diagnostics import location_of
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    BitcastOp,
    CastOp,
    DotOp,
    FullOp,
    LoadOp,
    MaskOp,
    ReduceOp,
    SelectOp,
    TileType,
    literal,
    tile_type,
)
from kopt.errors import LoweringError
from kopt.walk import walk

#: The sign of f32's bits, and those of infinity, which are all digits of the power of two.
_SIGN, _INFINITY = -(2**31), 0x7F800000
#: f16's digits, and those of f32 that it lacks.
_DIGITS, _LOST = 11, 13
#: f16's subnormal numbers are multiples of this; its smallest normal one, its largest, and what is rounded to infinity.
_STEP, _SMALLEST, _LARGEST, _TOO_LARGE = 2.0**-24, 2.0**-14, 65504.0, 65520.0


def widen_f16(launch: LaunchOp, halves: set[SSAValue]) -> None:
    """Holds f16 values in f32.

    ``halves`` are the arrays that hold f16 values in f32: what is loaded from them needs no rounding.
    """
    for op in walk(launch):
        if isinstance(op, DotOp) and _is_half(op.lhs):
            op.properties["precision"] = StringAttr("ieee")  # one pass of bf16 would lose digits that f16 has
    known, numbers = set[SSAValue](), ExactNumbers()
    for op in walk(launch):
        for arg in [arg for region in op.regions for block in region.blocks for arg in block.args]:
            if _is_half(arg):
                known.add(Rewriter.replace_value_with_new_type(arg, tile_type(arg).with_element(f32)))
        if isinstance(op, LoadOp) and op.memory in halves or _moves_known(op, known):
            known.update(op.results)
        for result in op.results:
            if _is_half(result):
                _widen(op, result, known, numbers)
        if isinstance(op, CastOp) and op.input.type == op.result.type:
            Rewriter.replace_op(op, [], [op.input])


def _is_half(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.element_type == f16


def _moves_known(op: Operation, known: set[SSAValue]) -> bool:
    """Whether an op makes or moves, in f32, nothing but numbers that are f16's: what it gives needs no rounding."""
    if isinstance(op, FullOp):
        return tile_type(op.result).element_type == f32 and _is_number_of_f16(op.number)
    if isinstance(op, MaskOp) and not _is_number_of_f16(op.fill_number):
        return False
    moved = [value for value in op.operands if isinstance(value.type, TileType) and value.type.element_type == f32]
    return _is_move(op) and bool(moved) and known.issuperset(moved)


def _is_number_of_f16(number: float) -> bool:
    with np.errstate(over="ignore"):
        return float(np.float16(number)) == number


def _is_move(op: Operation) -> bool:
    return isinstance(op, MOVES) or (isinstance(op, ReduceOp) and op.kind.data in ("max", "min"))


def _widen(op: Operation, result: SSAValue, known: set[SSAValue], numbers: ExactNumbers) -> None:
    """``known`` are values in f32 that are numbers of f16."""
    if isinstance(op, CastOp):
        _widen_cast(op, known, numbers)
        return
    if isinstance(op, MaskOp):
        op.fill = _literal(op.fill_number)
    elif isinstance(op, FullOp):
        op.value = _literal(op.number)
    elif not (_is_move(op) or op.regions):
        raise LoweringError(
            f"'{op.name}' computes in f16, which a TPU cannot do",
            location_of(op),
            notes=["compute in float32 and round the result"],
            id="element-type",
        )
    known.add(Rewriter.replace_value_with_new_type(result, tile_type(result).with_element(f32)))


def _literal(number: float) -> Attribute:
    """A number of f16 in f32."""
    return literal(float(np.float16(number)), f32)


def _widen_cast(op: CastOp, known: set[SSAValue], numbers: ExactNumbers) -> None:
    """Nothing where no one looks or nothing is lost, else a rounding."""
    if op.result.first_use is None:
        Rewriter.erase_op(op)
    elif op.input in known:
        Rewriter.replace_op(op, [], [op.input])
    else:
        build, exact = Builder(op), numbers.of(op.input)
        value = build.cast(op.input, f32)
        if exact is None or not exact.fits(_DIGITS, _STEP, _LARGEST):
            value = _rounded(build, value)
            value.name_hint = op.result.name_hint
        known.add(value)
        Rewriter.replace_op(op, [], [value])


def _rounded(build: Builder, value: SSAValue) -> SSAValue:
    """f32 values rounded to nearest even among those of f16.

    Next to a number that is larger by 13 binary digits, and by half of it more, f32 has the digits that f16 has next to
    0: added and taken away again, that number rounds. It is 2 ** -14 times that at least, where f16's digits end.
    """
    bits = build.add(BitcastOp(value, i32))
    power = build.add(BitcastOp(build.with_number("and", bits, _INFINITY), f32))
    large = build.with_number("mul", build.with_number("maximum", power, _SMALLEST), 1.5 * 2.0**_LOST)
    near = build.add(ELEMENTWISE["sub"](build.add(ELEMENTWISE["add"](value, large)), large))
    sign = build.with_number("and", bits, _SIGN)
    rounded = build.add(BitcastOp(build.add(ELEMENTWISE["or"](build.add(BitcastOp(near, i32)), sign)), f32))
    infinite = build.add(BitcastOp(build.with_number("or", sign, _INFINITY), f32))
    size = build.add(BitcastOp(build.with_number("and", bits, ~_SIGN), f32))
    return build.add(SelectOp(build.with_number("ge", size, _TOO_LARGE), infinite, rounded))
