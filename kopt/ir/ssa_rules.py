"""What each operation computes, as an index expression of its operands: tables for `kopt.ir.forms`.

A rule gives an expression before it is held in the result's type, a condition, or only the range of a number that
keeps its name; None where nothing is known.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1
from xdsl.ir import Operation, SSAValue

from kopt.dialects.jagged import RowsOp
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BeginOp,
    BlockSizeOp,
    BroadcastOp,
    CastOp,
    CountOp,
    DynamicSliceOp,
    ElementwiseOp,
    EndOp,
    ExtractOp,
    FullOp,
    IdOp,
    IndexOp,
    LoadOp,
    ReshapeOp,
    SelectOp,
    SliceOp,
    SplatOp,
    TransposeOp,
    ValidCountOp,
    ValidOp,
    element_of,
    tile_type,
)
from kopt.dialects.triton import ProgramIdOp
from kopt.ir.choices import maximum, minimum, product, select, wrap
from kopt.ir.condition import FALSE, TRUE, Condition, compare, conjunction, disjunction
from kopt.ir.division import delinearized, floordiv, mod
from kopt.ir.forms import (
    Form,
    Forms,
    is_number,
    wide_dims,
)
from kopt.ir.index_expr import ZERO, IndexExpr, lane, number
from kopt.ir.loaded import loaded
from kopt.ir.rewriting import Rewriting, at_lanes, moved
from kopt.ir.value_range import ValueRange

Found = Form | ValueRange | None
Rule = Callable[[Forms, Any], Found]
_NATURAL = ValueRange(0, None)
_POSITIVE = ValueRange(1, None)


def _is_natural(*exprs: IndexExpr) -> bool:
    return all(expr.range.is_natural for expr in exprs)


# Numbers.


def _product(a: IndexExpr, b: IndexExpr) -> Found:
    exact = product(a, b)
    return a.range * b.range if exact is None else exact


def _truncdiv(a: IndexExpr, b: IndexExpr) -> Found:
    is_floor = _is_natural(a) and _POSITIVE.covers(b.range)
    return floordiv(a, b) if is_floor else _exact_quotient(a, b) or a.range.truncdiv(b.range)


def _exact_quotient(a: IndexExpr, b: IndexExpr) -> IndexExpr | None:
    """A quotient that leaves nothing is the same however it is rounded."""
    by = b.number
    return floordiv(a, by) if by and a.divisor % by == 0 else None


def _rem(a: IndexExpr, b: IndexExpr) -> Found:
    is_mod = _is_natural(a) and _POSITIVE.covers(b.range)
    return mod(a, b) if is_mod else a.range.rem(b.range)


def _bitand(a: IndexExpr, b: IndexExpr) -> Found:
    """Low bits are a remainder, and the others what is left, of numbers below 0 too."""
    for value, mask in ((a, b.number), (b, a.number)):
        if mask is not None and mask >= 0 and not mask & (mask + 1):
            return mod(value, mask + 1)
        if mask is not None and mask < 0 and not -mask & (-mask - 1):
            return floordiv(value, -mask) * -mask
    return a.range.bitand(b.range)


def _bitor(a: IndexExpr, b: IndexExpr) -> Found:
    return a + b if _is_disjoint(a, b) else a.range.bitor(b.range)


def _bitxor(a: IndexExpr, b: IndexExpr) -> Found:
    return a + b if _is_disjoint(a, b) else a.range.bitxor(b.range)


def _is_disjoint(a: IndexExpr, b: IndexExpr) -> bool:
    """Whether one number has only bits below those of the other."""
    for high, low in ((a, b), (b, a)):
        bit = high.divisor & -high.divisor
        if bit and ValueRange(0, bit - 1).covers(low.range):
            return True
    return False


def _shl(a: IndexExpr, b: IndexExpr) -> Found:
    by = b.number
    return a * (1 << by) if by is not None and 0 <= by < 64 else None


def _shr(a: IndexExpr, b: IndexExpr) -> Found:
    by = b.number
    return floordiv(a, 1 << by) if by is not None and 0 <= by < 64 else None


def _abs(a: IndexExpr) -> Found:
    return a if _is_natural(a) else maximum(a, -a)


_NUMBERS: dict[str, Callable[..., Found]] = {
    "neg": lambda a: -a,
    "abs": _abs,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": _product,
    "floordiv": floordiv,
    "mod": mod,
    "truncdiv": _truncdiv,
    "rem": _rem,
    "maximum": maximum,
    "minimum": minimum,
    "not": lambda a: -a - 1,
    "and": _bitand,
    "or": _bitor,
    "xor": _bitxor,
    "shl": _shl,
    "shr": _shr,
}
_TRUTHS: dict[str, Callable[..., Condition]] = {
    "not": lambda a: a.negated(),
    "and": lambda a, b: conjunction([a, b]),
    "or": lambda a, b: disjunction([a, b]),
}
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


def _forms(m: Forms, values: tuple[SSAValue, ...]) -> tuple[list[IndexExpr], list[Condition]]:
    """The operands as numbers, or as conditions; both shorter where some are neither."""
    types = [element_of(value.type) for value in values]
    numbers = [m.expr(value) for value, type in zip(values, types, strict=True) if is_number(type)]
    return numbers, [m.condition(value) for value, type in zip(values, types, strict=True) if type == i1]


def _by_name(m: Forms, op: Operation, name: str) -> Found:
    numbers, truths = _forms(m, tuple(op.operands))
    if len(numbers) == len(op.operands):
        if name in _COMPARISONS:
            return compare(name, *numbers)
        return _NUMBERS[name](*numbers) if name in _NUMBERS else None
    return _TRUTHS[name](*truths) if len(truths) == len(op.operands) and name in _TRUTHS else None


def _elementwise(m: Forms, op: ElementwiseOp) -> Found:
    return _by_name(m, op, op.ROW.name)


# Scalars.

_SIGNED: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.FloorDivSIOp: "floordiv",
    arith.DivSIOp: "truncdiv",
    arith.RemSIOp: "rem",
    arith.MinSIOp: "minimum",
    arith.MaxSIOp: "maximum",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
    arith.ShLIOp: "shl",
    arith.ShRSIOp: "shr",
}
#: The same as signed where nothing is below 0.
_UNSIGNED: dict[type[Operation], str] = {
    arith.DivUIOp: "floordiv",
    arith.RemUIOp: "mod",
    arith.MinUIOp: "minimum",
    arith.MaxUIOp: "maximum",
    arith.ShRUIOp: "shr",
}
_PREDICATES = ("eq", "ne", "lt", "le", "gt", "ge", "lt", "le", "gt", "ge")


def _signed(m: Forms, op: Operation) -> Found:
    return _by_name(m, op, _SIGNED[type(op)])


def _unsigned(m: Forms, op: Operation) -> Found:
    numbers, _ = _forms(m, tuple(op.operands))
    return _by_name(m, op, _UNSIGNED[type(op)]) if numbers and _is_natural(*numbers) else None


def _ceildiv(m: Forms, op: arith.CeilDivSIOp | arith.CeilDivUIOp) -> Found:
    return -floordiv(-m.expr(op.lhs), m.expr(op.rhs))


def _unsigned_ceildiv(m: Forms, op: arith.CeilDivUIOp) -> Found:
    numbers, _ = _forms(m, (op.lhs, op.rhs))
    return _ceildiv(m, op) if numbers and _is_natural(*numbers) else None


def _cmpi(m: Forms, op: arith.CmpiOp) -> Found:
    predicate = op.predicate.value.data
    numbers, _ = _forms(m, (op.lhs, op.rhs))
    if not numbers or (predicate > 5 and not _is_natural(*numbers)):
        return None
    return compare(_PREDICATES[predicate], *numbers)


def _constant(m: Forms, op: arith.ConstantOp) -> Found:
    if not isinstance(op.value, IntegerAttr):
        return None
    value = op.value.value.data
    return (TRUE if value else FALSE) if op.result.type == i1 else number(value)


def _converted(m: Forms, op: Operation) -> Found:
    """What another type holds of a number; truth values are 0 and 1, or -1 where they are extended as signed."""
    value = op.operands[0]
    if element_of(value.type) == i1:
        one = number(-1 if isinstance(op, arith.ExtSIOp) else 1)
        return None if element_of(op.results[0].type) == i1 else select(m.condition(value), one, ZERO)
    if not is_number(value.type):
        return None
    if element_of(op.results[0].type) == i1:
        return compare("ne", m.expr(value), ZERO) if isinstance(op, CastOp) else None
    return m.expr(value)


def _extui(m: Forms, op: arith.ExtUIOp) -> Found:
    type = op.operands[0].type
    found = _converted(m, op)
    is_wrapped = isinstance(found, IndexExpr) and isinstance(type, IntegerType) and type != i1
    return wrap(type.width.data, found, signed=False) if is_wrapped else found  # pyright: ignore


def _select(m: Forms, op: SelectOp | arith.SelectOp) -> Found:
    condition, *values = op.operands
    numbers, truths = _forms(m, tuple(values))
    if len(numbers) == 2:
        return select(m.condition(condition), *numbers)
    if len(truths) < 2:
        return None
    taken = m.condition(condition)
    return disjunction([conjunction([taken, truths[0]]), conjunction([taken.negated(), truths[1]])])


# Tiles.


def _full(m: Forms, op: FullOp) -> Found:
    element = element_of(op.result.type)
    if element == i1:
        return TRUE if op.number else FALSE
    return number(int(op.number)) if isinstance(element, IntegerType) else None


def _arange(m: Forms, op: ArangeOp) -> Found:
    return number(op.start.data) + lane(0, _dims(m, op.result)[0]) * op.step.data


def _same(m: Forms, op: SplatOp | ExtractOp) -> Found:
    """The same number in every lane, or that of the only lane."""
    before, after = element_of(op.operands[0].type), element_of(op.result.type)
    if before == after == i1:
        return m.condition(op.operands[0])
    return m.expr(op.operands[0]) if is_number(before) and is_number(after) else None


def _through(m: Forms, value: SSAValue, rewriting: Rewriting) -> Found:
    element = element_of(value.type)
    if element == i1:
        return rewriting.condition(m.condition(value))
    return rewriting.expr(m.expr(value)) if is_number(element) else None


def _dims(m: Forms, value: SSAValue) -> list:
    return [m.lanes_along(value, dim) for dim in range(tile_type(value).rank)]


def places(op: BroadcastOp | ReshapeOp | TransposeOp) -> dict[int, int] | None:
    """Where an op puts each dimension (plain ones of one lane left out), or None if it splits or merges some."""
    wide = wide_dims(op.input.type)
    if isinstance(op, BroadcastOp):
        return {n: op.mapping[n] for n in wide}
    if isinstance(op, TransposeOp):
        return {n: op.order.index(n) for n in wide}
    after = wide_dims(op.result.type)
    same = [op.input_type.shape[n] for n in wide] == [op.result_type.shape[n] for n in after]
    return dict(zip(wide, after, strict=True)) if same else None


def _placed(m: Forms, op: BroadcastOp | ReshapeOp | TransposeOp) -> Found:
    found = places(op)
    return None if found is None else _through(m, op.input, moved(found))


def _reshape(m: Forms, op: ReshapeOp) -> Found:
    if places(op) is not None:
        return _placed(m, op)
    sizes, targets, after = _dims(m, op.input), _dims(m, op.result), wide_dims(op.result.type)
    flat = ZERO
    for n, pitch in zip(after, [prod(targets[n + 1 :], start=1) for n in after], strict=True):
        flat = flat + lane(n, targets[n]) * pitch
    digits = delinearized(flat, sizes)
    return _through(m, op.input, at_lanes(dict(enumerate(digits))))


def _slice(m: Forms, op: SliceOp) -> Found:
    lanes = {
        n: lane(n, size) * stride + offset if size != lanes else lane(n, lanes)
        for n, ((offset, size, stride), lanes) in enumerate(zip(op.bounds, _dims(m, op.input), strict=True))
    }
    return _through(m, op.input, at_lanes(lanes))


def _dynamic_slice(m: Forms, op: DynamicSliceOp) -> Found:
    lanes = {n: lane(n, size) for n, size in enumerate(_dims(m, op.result))}
    lanes[op.dim.data] = lanes[op.dim.data] + m.expr(op.offset)
    return _through(m, op.input, at_lanes(lanes))


def _rows(m: Forms, op: RowsOp) -> Found:
    return m.expr(op.starts) + m.lanes(op.range, tile_type(op.starts).rank)


RULES: dict[type, Rule] = {
    **dict.fromkeys(ELEMENTWISE.values(), _elementwise),
    **dict.fromkeys(_SIGNED, _signed),
    **dict.fromkeys(_UNSIGNED, _unsigned),
    **dict.fromkeys((CastOp, arith.IndexCastOp, arith.ExtSIOp, arith.TruncIOp), _converted),
    arith.ExtUIOp: _extui,
    arith.CeilDivSIOp: _ceildiv,
    arith.CeilDivUIOp: _unsigned_ceildiv,
    arith.CmpiOp: _cmpi,
    arith.ConstantOp: _constant,
    arith.SelectOp: _select,
    SelectOp: _select,
    FullOp: _full,
    ArangeOp: _arange,
    SplatOp: _same,
    ExtractOp: _same,
    BroadcastOp: _placed,
    TransposeOp: _placed,
    ReshapeOp: _reshape,
    SliceOp: _slice,
    DynamicSliceOp: _dynamic_slice,
    RowsOp: _rows,
    LoadOp: loaded,
    BeginOp: lambda m, op: m.begin(op.range),
    EndOp: lambda m, op: m.end(op.range),
    IdOp: lambda m, op: m.number(op.range),
    CountOp: lambda m, op: m.count(op.range),
    BlockSizeOp: lambda m, op: IndexExpr(m.size(op.range)),
    IndexOp: lambda m, op: m.lanes(op.range),
    ValidCountOp: lambda m, op: m.end(op.range) - m.begin(op.range),
    ValidOp: lambda m, op: m.valid(op.range, 0),
    ProgramIdOp: lambda m, op: _NATURAL,
}
