"""Narrow integers between ops of 32 bits: wrapped by shifts, not packed into bytes and unpacked again."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, Signedness, i32
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.analysis.storage import is_narrow_integer
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import constant, holds, widens
from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ElementwiseOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
    TakeAlongOp,
    TransposeOp,
    element_of,
)
from kopt.dialects.tile.values import is_float

_BITS = 32
#: Ops whose results are numbers of a type where their operands are; of a signed type ``not``, too.
_CLOSED = tuple(ELEMENTWISE[name] for name in ("and", "or", "xor", "minimum", "maximum"))
_MOVES = (BroadcastOp, ConcatOp, ReshapeOp, SliceOp, TransposeOp)


class WrapInPlace(RewritePattern):
    """A cast of what was cast from 32 bits to an integer type of 8 or 16: numbers of that type stay as they are.

    Others wrap by two shifts, or by a mask where the type has no sign.

        %n = tile.cast %x : … i32 … to … i8 …   %w = tile.cast %n : … i8 … to … i32 …
    becomes
        %s = tile.shl %x, 24   %w = tile.shr %s, 24
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter, /) -> None:
        narrow, target, inner = element_of(op.input), element_of(op.result), op.input.owner
        if not isinstance(inner, CastOp) or element_of(inner.input) != i32 or not is_narrow_integer(narrow):
            return
        if target == i32 or is_float(target):
            assert isinstance(narrow, IntegerType)
            build = Builder(op, rewriter=rewriter)
            build.replace(build.cast(_wrapped(build, inner.input, narrow), target))


class ShiftOnce(RewritePattern):
    """A shift of what was shifted to the same side, both by constants: one shift, while bits are left.

    %a = tile.shr %x, 24   %b = tile.shr %a, 4
    becomes
    %b = tile.shr %x, 28
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ElementwiseOp, rewriter: PatternRewriter, /) -> None:
        value, by = _shifted(op.inputs[0], type(op))
        more = constant(op.inputs[1])
        if by and isinstance(more, int) and 0 <= more < _BITS - by:
            build = Builder(op, rewriter=rewriter)
            build.replace(build.with_number(op.ROW.name, value, by + more))


def _shifted(value: SSAValue, kind: type[ElementwiseOp]) -> tuple[SSAValue, int]:
    """What a value is a shift of, and by how many bits; the value itself, by none."""
    by = constant(value.owner.inputs[1]) if isinstance(value.owner, kind) else None
    return (value.owner.inputs[0], by) if isinstance(by, int) and 0 < by < _BITS else (value, 0)  # pyright: ignore


def _wrapped(build: Builder, value: SSAValue, type: IntegerType) -> SSAValue:
    """A value of 32 bits as a number of a narrower type."""
    if _has_only(value, type):
        return value
    width = type.width.data
    if _is_unsigned(type):
        return build.with_number("and", value, (1 << width) - 1)
    inner, by = _shifted(value, ELEMENTWISE["shl"])
    if by >= width:  # no bit is left
        inner, by = value, 0
    return build.with_number("shr", build.with_number("shl", inner, _BITS - width + by), _BITS - width)


def _has_only(value: SSAValue, type: IntegerType) -> bool:
    """Whether a value is known to be a number of a type, in every lane."""
    seen, left = set[SSAValue](), [value]
    while left:
        if (one := left.pop()) in seen:
            continue
        seen.add(one)
        op, number = one.owner, constant(one)
        if number is not None and holds(type, number) or _leaves_bits(op, type):
            continue
        if isinstance(op, CastOp) and (element_of(op.input) == type or widens(element_of(op.input), type)):
            continue
        if not (operands := _operands_of(op, type)):
            return False
        left += operands
    return True


def _operands_of(op: object, type: IntegerType) -> Sequence[SSAValue]:
    """The operands of an op that gives numbers of a type where these are such; none of another op."""
    if isinstance(op, (*_CLOSED, *_MOVES)) or isinstance(op, ELEMENTWISE["not"]) and not _is_unsigned(type):
        return op.operands
    if isinstance(op, SelectOp):
        return op.on_true, op.on_false
    return op.operands[:1] if isinstance(op, (ELEMENTWISE["shr"], TakeAlongOp)) else ()


def _leaves_bits(op: object, type: IntegerType) -> bool:
    """Whether an op leaves bits of a type alone of any number: a mask without the sign, or a long shift."""
    if isinstance(op, ELEMENTWISE["and"]):
        numbers = [number for value in op.inputs if (number := constant(value)) is not None]
        return any(number >= 0 and holds(type, number) for number in numbers)
    if isinstance(op, ELEMENTWISE["shr"]) and not _is_unsigned(type):
        return _shifted(op.result, ELEMENTWISE["shr"])[1] >= _BITS - type.width.data
    return False


def _is_unsigned(type: IntegerType) -> bool:
    return type.signedness.data == Signedness.UNSIGNED
