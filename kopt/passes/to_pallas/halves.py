"""f16 in a kernel: values are held in f32, and rounded as f16 is where the source rounds."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import StringAttr, f16, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.wide_facts import MOVES
from kopt.diagnostics import location_of
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
)
from kopt.errors import LoweringError
from kopt.passes.mosaic.building import Builder, type_of

#: f32's bits: the sign, infinity, f16's largest number, its smallest normal one, and the digits that f16 lacks.
_SIGN, _INFINITY, _LARGEST, _SMALLEST, _LOST = -(2**31), 0x7F800000, 0x477FE000, 0x38800000, 13
#: f16's subnormal numbers are multiples of this.
_STEP = 2.0**-24


def widen_f16(launch: LaunchOp, halves: set[SSAValue]) -> None:
    """Holds f16 values in f32.

    ``halves`` are the arrays that hold f16 values in f32: what is loaded from them needs no rounding.
    """
    for op in list(launch.walk()):
        if isinstance(op, DotOp) and _is_half(op.lhs):
            op.properties["precision"] = StringAttr("ieee")  # one pass of bf16 would lose digits that f16 has
    known: set[SSAValue] = set()
    for op in list(launch.walk()):
        for arg in [arg for region in op.regions for block in region.blocks for arg in block.args]:
            if _is_half(arg):
                known.add(Rewriter.replace_value_with_new_type(arg, type_of(arg).with_element(f32)))
        if isinstance(op, LoadOp) and op.memory in halves or _moves_known(op, known):
            known.update(op.results)
        for result in op.results:
            if _is_half(result):
                _widen(op, result, known)
        if isinstance(op, CastOp) and op.input.type == op.result.type:
            Rewriter.replace_op(op, [], [op.input])


def _is_half(value: SSAValue) -> bool:
    return isinstance(value.type, TileType) and value.type.element_type == f16


def _moves_known(op: Operation, known: set[SSAValue]) -> bool:
    """Whether an op makes or moves, in f32, nothing but numbers that are f16's: what it gives needs no rounding."""
    if isinstance(op, FullOp):
        return type_of(op.result).element_type == f32 and _is_number_of_f16(op.number)
    if isinstance(op, MaskOp) and not _is_number_of_f16(op.fill_number):
        return False
    moved = [value for value in op.operands if isinstance(value.type, TileType) and value.type.element_type == f32]
    return _is_move(op) and bool(moved) and known.issuperset(moved)


def _is_number_of_f16(number: float) -> bool:
    with np.errstate(over="ignore"):
        return float(np.float16(number)) == number


def _is_move(op: Operation) -> bool:
    return isinstance(op, MOVES) or (isinstance(op, ReduceOp) and op.kind.data in ("max", "min"))


def _widen(op: Operation, result: SSAValue, known: set[SSAValue]) -> None:
    """``known`` are values in f32 that are numbers of f16."""
    if isinstance(op, CastOp):
        _widen_cast(op, known)
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
        )
    known.add(Rewriter.replace_value_with_new_type(result, type_of(result).with_element(f32)))


def _literal(number: float) -> Attribute:
    """A number of f16 in f32."""
    return literal(float(np.float16(number)), f32)


def _widen_cast(op: CastOp, known: set[SSAValue]) -> None:
    """Nothing where no one looks or nothing is lost, else a rounding."""
    if op.result.first_use is None:
        Rewriter.erase_op(op)
    elif op.input in known:
        Rewriter.replace_op(op, [], [op.input])
    else:
        build = Builder(op)
        rounded = _rounded(build, build.cast(op.input, f32))
        rounded.name_hint = op.result.name_hint
        known.add(rounded)
        Rewriter.replace_op(op, [], [rounded])


def _rounded(build: Builder, value: SSAValue) -> SSAValue:
    """f32 values rounded to nearest even among those of f16, by their bits."""
    bits = build.add(BitcastOp(value, i32))
    sign, size = _with(build, "and", bits, _SIGN), _with(build, "and", bits, ~_SIGN)
    even = _with(build, "and", _with(build, "shr", size, _LOST), 1)
    up = _with(build, "add", build.add(ELEMENTWISE["add"](size, even)), 2 ** (_LOST - 1) - 1)
    normal = _with(build, "and", up, -(2**_LOST))
    finite = _choose(build, _with(build, "gt", normal, _LARGEST), _INFINITY, normal)
    steps = build.add(ELEMENTWISE["round"](_with(build, "mul", build.add(BitcastOp(size, f32)), 1 / _STEP)))
    subnormal = build.add(BitcastOp(_with(build, "mul", steps, _STEP), i32))
    number = _choose(build, _with(build, "lt", size, _SMALLEST), subnormal, finite)
    found = _choose(build, _with(build, "gt", size, _INFINITY), size, number)
    return build.add(BitcastOp(build.add(ELEMENTWISE["or"](found, sign)), f32))


def _with(build: Builder, name: str, value: SSAValue, number: float) -> SSAValue:
    return build.add(ELEMENTWISE[name](value, build.add(FullOp(number, type_of(value)))))


def _choose(build: Builder, condition: SSAValue, then: SSAValue | int, otherwise: SSAValue) -> SSAValue:
    if isinstance(then, int):
        then = build.add(FullOp(then, type_of(otherwise)))
    return build.add(SelectOp(condition, then, otherwise))
