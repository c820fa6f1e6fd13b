"""Scalars: index arithmetic and conditions by ``arith`` ops, as a table."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, i1
from xdsl.ir import Operation

from kopt.dialects import triton
from kopt.dialects.tile import literal_value
from kopt.lowering.triton.expressions import AND, COMPARE, OR, PRODUCT, SUM, XOR, Expr, call, infix, number
from kopt.lowering.triton.kernel import Handler, TritonPrinter

_INFIX: dict[type[Operation], tuple[str, int]] = {
    arith.AddiOp: ("+", SUM),
    arith.SubiOp: ("-", SUM),
    arith.MuliOp: ("*", PRODUCT),
    arith.DivSIOp: ("//", PRODUCT),
    arith.DivUIOp: ("//", PRODUCT),
    arith.RemSIOp: ("%", PRODUCT),
    arith.RemUIOp: ("%", PRODUCT),
    arith.AndIOp: ("&", AND),
    arith.OrIOp: ("|", OR),
    arith.XOrIOp: ("^", XOR),
    arith.AddfOp: ("+", SUM),
    arith.SubfOp: ("-", SUM),
    arith.MulfOp: ("*", PRODUCT),
    arith.DivfOp: ("/", PRODUCT),
}
_CALLS: dict[type[Operation], str] = {
    arith.MinSIOp: "min",
    arith.MaxSIOp: "max",
    arith.MinUIOp: "min",
    arith.MaxUIOp: "max",
    arith.CeilDivSIOp: "tl.cdiv",
    arith.CeilDivUIOp: "tl.cdiv",
    arith.SelectOp: "tl.where",
}
#: Comparison by the predicate's number, signed and unsigned.
_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
#: Comparisons of floats by the predicate's number: those that are ordered, and `!=`.
FLOAT_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}


def print_constant(kernel: TritonPrinter, op: arith.ConstantOp) -> None:
    """A literal."""
    attr = op.value
    assert isinstance(attr, IntegerAttr | FloatAttr)
    kernel.alias(op.result, number(literal_value(attr), "i1" if attr.type == i1 else ""))


def print_infix(kernel: TritonPrinter, op: Operation) -> None:
    """An operator. Triton's ``//`` and ``%`` round to zero, as the ops printed by them do."""
    operator, strength = _INFIX[type(op)]
    kernel.define(op.results[0], infix(operator, strength, *(kernel[value] for value in op.operands)))


def print_floordiv(kernel: TritonPrinter, op: arith.FloorDivSIOp) -> None:
    """Python's ``//``: a helper that is right however ``//`` and ``%`` round.

    In Triton's interpreter the numbers of loops are Python's own until they are assigned.
    """
    kernel.define(op.result, call(kernel.helper("_floor_quotient"), [kernel[value] for value in op.operands]))


def print_call(kernel: TritonPrinter, op: Operation) -> None:
    """A function of scalars."""
    kernel.define(op.results[0], call(_CALLS[type(op)], [kernel[value] for value in op.operands]))


def print_compare(kernel: TritonPrinter, op: arith.CmpiOp | arith.CmpfOp) -> None:
    """A condition."""
    code = op.predicate.value.data
    operator = _PREDICATES[code] if isinstance(op, arith.CmpiOp) else FLOAT_PREDICATES[code]
    kernel.define(op.result, infix(operator, COMPARE, kernel[op.lhs], kernel[op.rhs]))


def print_program_id(kernel: TritonPrinter, op: triton.ProgramIdOp) -> None:
    """``tl.program_id(0)``."""
    kernel.define(op.result, Expr("tl.program_id(0)"))


def print_same(kernel: TritonPrinter, op: arith.IndexCastOp) -> None:
    """Triton widens integers by itself."""
    kernel.alias(op.result, kernel[op.input])


HANDLERS: dict[type, Handler] = {
    arith.ConstantOp: print_constant,
    arith.IndexCastOp: print_same,
    arith.CmpiOp: print_compare,
    arith.CmpfOp: print_compare,
    triton.ProgramIdOp: print_program_id,
    arith.FloorDivSIOp: print_floordiv,
    **dict.fromkeys(_INFIX, print_infix),
    **dict.fromkeys(_CALLS, print_call),
}
