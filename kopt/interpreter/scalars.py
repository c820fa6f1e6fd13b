"""What scalar arithmetic (``arith``), branches (``scf``) and functions (``func``) do, on Python numbers."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from kopt.dialects.tile.types import width_of
from kopt.errors import KoptError, UnsupportedError
from kopt.interpreter import ring
from kopt.interpreter.machine import Handler, Machine


def _wrap(value: int, type: Attribute) -> int | bool:
    """An integer as a value of its type: signed, and a truth value for i1."""
    width = width_of(type)
    value &= (1 << width) - 1
    if width == 1:
        return bool(value)
    return value - (1 << width) if value >> (width - 1) else value


def _unsigned(value: int, type: Attribute) -> int:
    return int(value) & ((1 << width_of(type)) - 1)


def _truncated(a: int, b: int) -> int:
    """The quotient rounded towards zero."""
    if b == 0:
        raise KoptError("division by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def _floored(a: int, b: int) -> int:
    if b == 0:
        raise KoptError("division by zero")
    return a // b


def _ceiled(a: int, b: int) -> int:
    return -_floored(-a, b)


_INTEGERS: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: operator.add,
    arith.SubiOp: operator.sub,
    arith.MuliOp: operator.mul,
    arith.DivSIOp: _truncated,
    arith.FloorDivSIOp: _floored,
    arith.CeilDivSIOp: _ceiled,
    arith.RemSIOp: lambda a, b: a - b * _truncated(a, b),
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
    arith.AndIOp: operator.and_,
    arith.OrIOp: operator.or_,
    arith.XOrIOp: operator.xor,
    arith.ShLIOp: lambda a, b: a << b,
    arith.ShRSIOp: lambda a, b: a >> b,
}

_UNSIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: _floored,
    arith.CeilDivUIOp: _ceiled,
    arith.RemUIOp: lambda a, b: a - b * _floored(a, b),
    arith.MinUIOp: min,
    arith.MaxUIOp: max,
    arith.ShRUIOp: lambda a, b: a >> b,
}

_FLOATS: dict[type[Operation], Callable[..., Any]] = {
    arith.AddfOp: operator.add,
    arith.SubfOp: operator.sub,
    arith.MulfOp: operator.mul,
    arith.DivfOp: lambda a, b: a / b if b else math.copysign(math.inf, a) if a else math.nan,
    arith.NegfOp: operator.neg,
}

#: By the number of the predicate: eq, ne, slt, sle, sgt, sge, then ult, ule, ugt, uge.
_COMPARE = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


def _constant(m: Machine, op: arith.ConstantOp) -> Any:
    value = op.value
    if isinstance(value, IntegerAttr):
        return _wrap(value.value.data, value.type)
    if isinstance(value, FloatAttr):
        _refuse_exact(op)
        return value.value.data
    kind = "dense" if isinstance(value, DenseIntOrFPElementsAttr) else value.name
    raise UnsupportedError(f"the reference interpreter has no {kind} constants")


def _integer(m: Machine, op: Operation) -> int:
    a, b = (int(m[value]) for value in op.operands)
    return _wrap(_INTEGERS[type(op)](a, b), op.results[0].type)


def _unsigned_integer(m: Machine, op: Operation) -> int:
    a, b = (_unsigned(m[value], value.type) for value in op.operands)
    return _wrap(_UNSIGNED[type(op)](a, b), op.results[0].type)


def _refuse_exact(op: Operation) -> None:
    if ring.active():
        raise UnsupportedError(f"'{op.name}' has no exact numbers")


def _float(m: Machine, op: Operation) -> float:
    _refuse_exact(op)
    return _FLOATS[type(op)](*(m[value] for value in op.operands))


def _compare(m: Machine, op: arith.CmpiOp) -> bool:
    predicate = op.predicate.value.data
    a, b = m[op.lhs], m[op.rhs]
    if predicate > 5:
        return _COMPARE[predicate - 4](_unsigned(a, op.lhs.type), _unsigned(b, op.rhs.type))
    return _COMPARE[predicate](a, b)


def _select(m: Machine, op: arith.SelectOp) -> Any:
    return m[op.lhs] if m[op.cond] else m[op.rhs]


def _convert(m: Machine, op: Operation) -> int:
    value = m[op.operands[0]]
    return _wrap(int(value), op.results[0].type)


def _to_float(m: Machine, op: Operation) -> float:
    _refuse_exact(op)
    return float(_extend_signed(m, op))


def _to_integer(m: Machine, op: Operation) -> int:
    _refuse_exact(op)
    return _convert(m, op)


def _extend_unsigned(m: Machine, op: Operation) -> int:
    return _unsigned(m[op.operands[0]], op.operands[0].type)


def _extend_signed(m: Machine, op: Operation) -> int:
    value = m[op.operands[0]]
    return -int(value) if isinstance(value, bool) else value


def _if(m: Machine, op: scf.IfOp) -> Any:
    region = op.true_region if m[op.cond] else op.false_region
    values = m.run_region(region.block) if region.blocks else ()
    return values[0] if len(values) == 1 else values


def _for(m: Machine, op: scf.ForOp) -> Any:
    carried = tuple(m[value] for value in op.iter_args)
    for number in range(m[op.lb], m[op.ub], m[op.step]):
        carried = m.run_region(op.body.block, (number, *carried))
    return carried[0] if len(carried) == 1 else carried


def _call(m: Machine, op: func.CallOp) -> Any:
    values = m.call(m.functions[op.callee.string_value()], [m[value] for value in op.operands])
    return values[0] if len(values) == 1 else values


HANDLERS: dict[type, Handler] = {
    **dict.fromkeys(_INTEGERS, _integer),
    **dict.fromkeys(_UNSIGNED, _unsigned_integer),
    **dict.fromkeys(_FLOATS, _float),
    arith.ConstantOp: _constant,
    arith.CmpiOp: _compare,
    arith.SelectOp: _select,
    arith.IndexCastOp: _convert,
    arith.TruncIOp: _convert,
    arith.ExtSIOp: _extend_signed,
    arith.ExtUIOp: _extend_unsigned,
    arith.SIToFPOp: _to_float,
    arith.FPToSIOp: _to_integer,
    scf.IfOp: _if,
    scf.ForOp: _for,
    func.CallOp: _call,
}
