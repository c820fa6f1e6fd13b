"""Scalars: index arithmetic and conditions by ``arith`` ops, as a table."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation

from kopt.dialects import tile, triton
from kopt.lowering.expr import Expr, literal
from kopt.lowering.printer import SCALARS, Handler, by
from kopt.lowering.triton.kernel import TritonPrinter


def print_constant(kernel: TritonPrinter, op: arith.ConstantOp) -> None:
    """A literal; or a name for it, where the kernel has one."""
    number = literal(op.value)
    if triton.NAMED in op.attributes and op.result.uses:
        name = kernel.names.bind(op.result)
        kernel.give(name, number, "tl.constexpr")
        number = Expr(name)
    kernel.alias(op.result, number)


def print_program_id(kernel: TritonPrinter, op: triton.ProgramIdOp) -> None:
    """``tl.program_id(0)``, or the cell that a persistent program is at."""
    kernel.define(op.result, Expr(kernel.cell))


def print_same(kernel: TritonPrinter, op: arith.IndexCastOp | tile.ExtractOp | triton.RetagOp) -> None:
    """The same value: tags are no part of it, and Triton widens integers by itself."""
    kernel.pass_on(op.result, op.input)


#: Triton's ``//`` and ``%`` round to zero, as signed ops do; in its interpreter, the numbers of loops are Python's own
#: until they are assigned, so what rounds down or up is a helper that is right however those round.
HANDLERS: dict[type[Operation], Handler] = {
    **SCALARS,
    arith.ConstantOp: print_constant,
    **dict.fromkeys((arith.IndexCastOp, tile.ExtractOp, triton.RetagOp), print_same),
    triton.ProgramIdOp: print_program_id,
    **dict.fromkeys((arith.DivSIOp, arith.DivUIOp), by("{0} // {1}")),
    **dict.fromkeys((arith.RemSIOp, arith.RemUIOp), by("{0} % {1}")),
    arith.FloorDivSIOp: by("_floor_quotient({0}, {1})"),
    **dict.fromkeys((arith.MinSIOp, arith.MinUIOp), by("min({0}, {1})")),
    **dict.fromkeys((arith.MaxSIOp, arith.MaxUIOp), by("max({0}, {1})")),
    arith.CeilDivSIOp: by("_ceil_quotient({0}, {1})"),
    arith.CeilDivUIOp: by("tl.cdiv({0}, {1})"),
    arith.SelectOp: by("tl.where({0}, {1}, {2})"),
}
