"""What printers of kernels have in common: the expressions of values, and which of them get lines of their own.

A printer of an op is a function ``(printer, op) -> None``, in a table ``HANDLERS`` by the op's type. It gives the op's
result its meaning, which is written where it is used if that reads well:

    def print_softplus(kernel, op):
        kernel.define(op.result, kernel.spell("_softplus({0})", op.input))

    HANDLERS = {SoftplusOp: print_softplus, SinOp: by("jnp.sin({0})")}
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from kopt.dialects.tile import ElementwiseOp, MaskOp, tile_type
from kopt.lowering.expr import Expr, add, known, spell, subtract, template, times
from kopt.lowering.names import Names
from kopt.lowering.writer import Writer

#: Prints one op.
Handler = Callable[[Any, Any], None]
#: Longer expressions get a name.
INLINE = 60

#: Operators of ``arith.cmpi`` by the predicate's number, signed and unsigned: indices are never negative.
INTEGER_PREDICATES = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
#: Operators of ``arith.cmpf`` by the predicate's number: those that are ordered, and `!=`.
FLOAT_PREDICATES = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}


class Printer(ABC):
    """The state of printing one function: its text, names in scope, and what values are spelt as."""

    def __init__(self, writer: Writer, names: Names, handlers: Mapping[type[Operation], Handler]):
        self.writer = writer
        self.names = names
        self.handlers = handlers
        self._exprs: dict[SSAValue, Expr] = {}

    def print_block(self, block: Block) -> None:
        """Prints the ops of a block."""
        for op in block.ops:
            self.print(op)

    def print(self, op: Operation) -> None:
        """Prints one op: a statement, or the meaning of a value."""
        writer, outer = self.writer, self.writer.origin
        writer.origin = op
        self.handlers[type(op)](self, op)
        writer.origin = outer

    @abstractmethod
    def assign(self, value: SSAValue, expr: Expr, hint: str | None = None) -> Expr:
        """Writes a line that gives an expression without effects the value's name."""

    @abstractmethod
    def helper(self, name: str) -> str:
        """The name of a helper function, which the module then defines."""

    def __getitem__(self, value: SSAValue) -> Expr:
        return self._exprs[value]

    def alias(self, value: SSAValue, expr: Expr) -> None:
        """Spells a value by an expression wherever it is used."""
        self._exprs[value] = expr

    def define(self, value: SSAValue, expr: Expr) -> None:
        """Makes a pure expression the meaning of a value: in place of its one use, or as a line with a name."""
        if not value.uses:
            return
        if expr.is_name or self.fits(value, expr):
            self._exprs[value] = expr
        else:
            self.assign(value, expr)

    def pass_on(self, value: SSAValue, given: SSAValue) -> None:
        """Makes a value an alias of one that it equals; where it is used more than once, a name."""
        expr = self[given]
        if value.has_one_use():
            self.alias(value, expr)
        else:
            self.define(value, expr)

    def fits(self, value: SSAValue, expr: Expr) -> bool:
        """Whether an expression stands well in place of its only use, in the same block; what the source names does
        not, unless what it is used for has the same name."""
        use = value.get_user_of_unique_use()
        if use is None or use.parent is not value.owner.parent or len(expr.text) > INLINE:
            return False
        named_by_source = value.name_hint and not isinstance(value.owner, MaskOp)
        return not named_by_source or value.name_hint == _hint_of(use)

    def named(self, value: SSAValue) -> Expr:
        """The value as a name or a number, for expressions that repeat it."""
        expr = self[value]
        return expr if expr.is_name else self.assign(value, expr)

    def spell(self, text: str, *values: SSAValue) -> Expr:
        """A template with values as operands; those that it repeats have names."""
        repeated = template(text).is_repeated
        return self.spelt(text, *(self.named(v) if repeated(n) else self[v] for n, v in enumerate(values)))

    def spelt(self, text: str, *operands: Expr) -> Expr:
        """A template with its operands; the module then defines the functions that it calls."""
        for name in template(text).helpers:
            self.helper(name)
        return spell(text, *operands)


def _hint_of(op: Operation) -> str | None:
    return op.results[0].name_hint if len(op.results) == 1 else None


def by(rule: str | Callable[..., Expr]) -> Handler:
    """Prints an op of one result by a template for its operands, or by a function of their expressions."""

    def print_op(printer: Printer, op: Operation) -> None:
        operands = op.operands
        expr = printer.spell(rule, *operands) if isinstance(rule, str) else rule(*(printer[v] for v in operands))
        printer.define(op.results[0], expr)

    return print_op


def template_of(templates: Mapping[str, str], op: ElementwiseOp) -> str:
    """The template of an elementwise op for the type of its operands, by ``name.kind``, else by name.

    Kinds are ``f32``, ``f64``, ``float`` for both, ``int``, ``uint`` and ``bool``.
    """
    name, element = op.ROW.name, tile_type(op.operands[0]).element_type
    keys = (*(f"{name}.{kind}" for kind in _kinds(element)), name)
    return next(templates[key] for key in keys if key in templates)


def _kinds(element: Attribute) -> tuple[str, ...]:
    if not isinstance(element, IntegerType):
        return (str(element), "float")
    return ("bool" if element == i1 else "uint" if element.signedness.data.name == "UNSIGNED" else "int",)


def compare(printer: Printer, op: arith.CmpiOp | arith.CmpfOp) -> None:
    """A condition."""
    code = op.predicate.value.data
    sign = INTEGER_PREDICATES[code] if isinstance(op, arith.CmpiOp) else FLOAT_PREDICATES[code]
    printer.define(op.result, printer.spell(f"{{0}} {sign} {{1}}", op.lhs, op.rhs))


#: How scalars are computed wherever Python is written.
SCALARS: dict[type[Operation], Handler] = {
    arith.AddiOp: by(add),
    arith.SubiOp: by(subtract),
    arith.MuliOp: by(times),
    arith.DivUIOp: by("{0} // {1}"),
    arith.RemUIOp: by("{0} % {1}"),
    arith.AndIOp: by(known("{0} & {1}", operator.and_)),
    arith.OrIOp: by(known("{0} | {1}", operator.or_)),
    arith.XOrIOp: by(known("{0} ^ {1}", operator.xor)),
    arith.AddfOp: by("{0} + {1}"),
    arith.SubfOp: by("{0} - {1}"),
    arith.MulfOp: by("{0} * {1}"),
    arith.DivfOp: by("{0} / {1}"),
    arith.CmpiOp: compare,
    arith.CmpfOp: compare,
}
