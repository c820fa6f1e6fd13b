"""Elementwise ops of the ``tile`` dialect: one table of name, arity and type rule, one op class a row.

Every op takes tiles of one shape and one element type and computes each lane by itself. Shapes are made equal
by `tile.broadcast`, dtypes by `tile.cast`: nothing is implicit. Floating-point arithmetic is done in ``f32`` or
``f64``; what is stored narrower is widened first and rounded after by a cast that no pass drops. Sums, differences,
products, maxima and minima are rounded once, so they are done in ``bf16`` too.

    %s = tile.add %a, %b : !tile.tile<b0=128 x f32>
    %c = tile.lt %a, %b : !tile.tile<b0=128 x f32>          // -> !tile.tile<b0=128 x i1>
    %v = tile.select %c, %a, %b : !tile.tile<b0=128 x f32>

The NumPy meaning and the Pallas and Triton spellings are tables with the same keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import FixedBitwidthType, IntegerType, bf16, f32, f64, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Commutative, Pure
from xdsl.utils.exceptions import VerifyException

from kopt.dialects.definition import Op, irdl_op_definition
from kopt.dialects.formats import Infers
from kopt.dialects.tile.traits import Canonicalized
from kopt.dialects.tile.types import TileType, tile_type
from kopt.dialects.tile.values import is_integer


def _is_compute_float(type: Attribute) -> bool:
    return type in (f32, f64)


def _is_bits(type: Attribute) -> bool:
    return isinstance(type, IntegerType)


@dataclass(frozen=True)
class TypeRule:
    """Which element types an op takes, in words for the error, and what it gives (None: the same)."""

    words: str
    accepts: Callable[[Attribute], bool]
    gives: Attribute | None = None


FLOAT = TypeRule("f32 or f64", _is_compute_float)
INTEGER = TypeRule("an integer type", is_integer)
NUMBER = TypeRule("f32, f64 or an integer type", lambda t: _is_compute_float(t) or is_integer(t))
#: Which a single rounding of the f32 result makes right, so bf16 is taken where a chip computes with it.
ROUNDED_ONCE = TypeRule("f32, f64, bf16 or an integer type", lambda t: NUMBER.accepts(t) or t == bf16)
BITS = TypeRule("an integer type or i1", _is_bits)
#: Which rounds nothing, so bf16 is compared as it is where a chip can.
COMPARE = TypeRule(
    "f32, f64, bf16, an integer type or i1", lambda t: _is_compute_float(t) or t == bf16 or _is_bits(t), i1
)
PREDICATE = TypeRule("f32 or f64", _is_compute_float, i1)


@dataclass(frozen=True)
class Row:
    """One elementwise op: ``name`` (without the dialect), ``arity``, type ``rule``, meaning, algebra."""

    name: str
    arity: int
    rule: TypeRule
    meaning: str
    commutative: bool = False


TABLE = (
    # arithmetic
    Row("neg", 1, ROUNDED_ONCE, "the negation"),
    Row("abs", 1, ROUNDED_ONCE, "the absolute value"),
    Row("sign", 1, NUMBER, "-1, 0 or 1 by the sign; 0 for NaN, as torch says"),
    Row("add", 2, ROUNDED_ONCE, "the sum; integers wrap", commutative=True),
    Row("sub", 2, ROUNDED_ONCE, "the difference; integers wrap"),
    Row("mul", 2, ROUNDED_ONCE, "the product; integers wrap", commutative=True),
    Row("div", 2, FLOAT, "the IEEE quotient"),
    Row("floordiv", 2, NUMBER, "the quotient rounded towards minus infinity (Python's //)"),
    Row("truncdiv", 2, NUMBER, "the quotient rounded towards zero"),
    Row("mod", 2, NUMBER, "the remainder with the divisor's sign (Python's %)"),
    Row("rem", 2, NUMBER, "the remainder with the dividend's sign (C's fmod and %)"),
    Row("pow", 2, NUMBER, "the power"),
    Row("maximum", 2, ROUNDED_ONCE, "the larger; NaN if either is NaN", commutative=True),
    Row("minimum", 2, ROUNDED_ONCE, "the smaller; NaN if either is NaN", commutative=True),
    Row("fmax", 2, FLOAT, "the larger; a NaN loses to a number", commutative=True),
    Row("fmin", 2, FLOAT, "the smaller; a NaN loses to a number", commutative=True),
    Row("atan2", 2, FLOAT, "the angle of the point (second, first)"),
    Row("copysign", 2, FLOAT, "the first's magnitude with the second's sign"),
    Row("fma", 3, FLOAT, "first * second + third, rounded once where the target can"),
    # transcendental functions
    Row("exp", 1, FLOAT, "e to the power"),
    Row("exp2", 1, FLOAT, "2 to the power"),
    Row("expm1", 1, FLOAT, "exp(x) - 1, exact near 0"),
    Row("log", 1, FLOAT, "the natural logarithm"),
    Row("log2", 1, FLOAT, "the base-2 logarithm"),
    Row("log10", 1, FLOAT, "the base-10 logarithm"),
    Row("log1p", 1, FLOAT, "log(1 + x), exact near 0"),
    Row("sqrt", 1, FLOAT, "the square root"),
    Row("rsqrt", 1, FLOAT, "1 / sqrt(x)"),
    Row("reciprocal", 1, FLOAT, "1 / x"),
    Row("sin", 1, FLOAT, "the sine"),
    Row("cos", 1, FLOAT, "the cosine"),
    Row("tan", 1, FLOAT, "the tangent"),
    Row("asin", 1, FLOAT, "the arc sine"),
    Row("acos", 1, FLOAT, "the arc cosine"),
    Row("atan", 1, FLOAT, "the arc tangent"),
    Row("sinh", 1, FLOAT, "the hyperbolic sine"),
    Row("cosh", 1, FLOAT, "the hyperbolic cosine"),
    Row("tanh", 1, FLOAT, "the hyperbolic tangent"),
    Row("asinh", 1, FLOAT, "the inverse hyperbolic sine"),
    Row("acosh", 1, FLOAT, "the inverse hyperbolic cosine"),
    Row("atanh", 1, FLOAT, "the inverse hyperbolic tangent"),
    Row("erf", 1, FLOAT, "the error function"),
    Row("sigmoid", 1, FLOAT, "1 / (1 + exp(-x))"),
    # rounding
    Row("floor", 1, FLOAT, "rounded towards minus infinity"),
    Row("ceil", 1, FLOAT, "rounded towards plus infinity"),
    Row("round", 1, FLOAT, "rounded to the nearest, ties to even"),
    Row("trunc", 1, FLOAT, "rounded towards zero"),
    # bits and logic
    Row("not", 1, BITS, "every bit flipped; on i1 the logical not"),
    Row("and", 2, BITS, "bitwise and", commutative=True),
    Row("or", 2, BITS, "bitwise or", commutative=True),
    Row("xor", 2, BITS, "bitwise exclusive or", commutative=True),
    Row("shl", 2, INTEGER, "shifted left"),
    Row("shr", 2, INTEGER, "shifted right; signed types keep their sign"),
    # comparisons
    Row("eq", 2, COMPARE, "whether equal", commutative=True),
    Row("ne", 2, COMPARE, "whether not equal", commutative=True),
    Row("lt", 2, COMPARE, "whether less"),
    Row("le", 2, COMPARE, "whether less or equal"),
    Row("gt", 2, COMPARE, "whether greater"),
    Row("ge", 2, COMPARE, "whether greater or equal"),
    Row("isnan", 1, PREDICATE, "whether NaN"),
    Row("isinf", 1, PREDICATE, "whether an infinity"),
)


class ElementwiseOp(Infers, Op):
    """Base of the ops of `TABLE`: ``tile.name %a, … : operand type``; ``ROW`` is the table's row."""

    ROW: ClassVar[Row]

    inputs = var_operand_def(TileType)
    result = result_def(TileType)

    assembly_format = "$inputs attr-dict `:` custom<OneType>(type($inputs)) custom<Infer>(type(results))"

    def __init__(self, *inputs: SSAValue | Operation, attributes: Mapping[str, Attribute | None] | None = None):
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], result_types=self.infer([values[0].type], {}), attributes=attributes)

    @classmethod
    def infer(cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        operand, gives = operands[0], cls.ROW.rule.gives
        return [operand.with_element(gives) if gives is not None and isinstance(operand, TileType) else operand]

    def verify_(self) -> None:
        row = self.ROW
        if len(self.inputs) != row.arity:
            raise VerifyException(f"{self.name} takes {row.arity} operands, found {len(self.inputs)}")
        first = self.inputs[0].type
        for value in self.inputs:
            if value.type != first:
                raise VerifyException(f"{self.name} needs operands of one type, found {first} and {value.type}")
        assert isinstance(first, TileType)
        if not row.rule.accepts(first.element_type):
            raise VerifyException(f"{self.name} computes in {row.rule.words}, found {first.element_type}: cast first")
        self.check_results()


def _define(row: Row) -> type[ElementwiseOp]:
    """The op class of a table row."""
    more = (Commutative(),) if row.commutative else ()
    traits = traits_def(Pure(), Canonicalized(), *more)
    doc = f"Each lane is {row.meaning}. Takes {row.arity} of {row.rule.words}."
    annotations = {"ROW": ClassVar[Row]}
    body = {
        "__annotations__": annotations,
        "name": f"tile.{row.name}",
        "ROW": row,
        "traits": traits,
        "__doc__": doc,
        "__module__": __name__,
    }
    return irdl_op_definition(type(f"{row.name.capitalize()}Op", (ElementwiseOp,), body))


#: Op class by short name: ``ELEMENTWISE["add"](a, b)``.
ELEMENTWISE: dict[str, type[ElementwiseOp]] = {row.name: _define(row) for row in TABLE}
#: The classes of ops that compare two tiles.
COMPARISONS = tuple(ELEMENTWISE[name] for name in ("lt", "le", "gt", "ge", "eq", "ne"))


@irdl_op_definition
class SelectOp(Op):
    """``tile.select %c, %a, %b : T``: each lane is ``%a`` where the i1 tile ``%c`` holds, else ``%b``; any type."""

    name = "tile.select"

    condition = operand_def(TileType)
    on_true = operand_def(TileType)
    on_false = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = """
        custom<Known>($condition, type($condition)) `,` $on_true `,` $on_false attr-dict `:` type($on_true)
        custom<Same>(type($on_false), ref(type($on_true))) custom<Same>(type($result), ref(type($on_true)))
    """

    def __init__(
        self,
        condition: SSAValue | Operation,
        on_true: SSAValue | Operation,
        on_false: SSAValue | Operation,
        attributes: Mapping[str, Attribute | None] | None = None,
    ):
        on_true = SSAValue.get(on_true)
        super().__init__(operands=[condition, on_true, on_false], result_types=[on_true.type], attributes=attributes)

    def verify_(self) -> None:
        condition, value = tile_type(self.condition), tile_type(self.on_true)
        if condition != value.with_element(i1):
            raise VerifyException(f"tile.select needs a condition of {value.with_element(i1)}, found {condition}")
        if not self.on_false.type == self.result.type == value:
            raise VerifyException(
                f"tile.select needs values and result of one type, found {value} and {self.on_false.type}"
            )


@irdl_op_definition
class CastOp(Op):
    """``tile.cast %v : A to B``: each lane converted to another element type, as torch's ``to`` does.

    Float to float rounds to nearest even. Float to integer truncates. A cast to i1 is ``!= 0``. Integers wrap.
    No pass drops a cast to a narrower type, since it rounds. Dimensions stay the same.
    """

    name = "tile.cast"

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure(), Canonicalized())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, element_type: Attribute):
        input = SSAValue.get(input)
        super().__init__(operands=[input], result_types=[tile_type(input).with_element(element_type)])

    def verify_(self) -> None:
        source, target = tile_type(self.input), tile_type(self.result)
        if source.dims != target.dims:
            raise VerifyException(f"tile.cast keeps the dimensions, found {source} to {target}")


@irdl_op_definition
class BitcastOp(Op):
    """``tile.bitcast %v : A to B``: each lane's bits read as another element type of the same width."""

    name = "tile.bitcast"

    input = operand_def(TileType)
    result = result_def(TileType)

    traits = traits_def(Pure())

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, input: SSAValue | Operation, element_type: Attribute):
        input = SSAValue.get(input)
        super().__init__(operands=[input], result_types=[tile_type(input).with_element(element_type)])

    def verify_(self) -> None:
        source, target = tile_type(self.input), tile_type(self.result)
        width = _width(source.element_type)
        if source.dims != target.dims or width is None or width != _width(target.element_type):
            raise VerifyException(f"tile.bitcast keeps dimensions and width, found {source} to {target}")


#: Ops whose lanes are each computed from the same lane of the operands.
LANEWISE = (ElementwiseOp, CastOp, SelectOp, BitcastOp)


def _width(type: Attribute) -> int | None:
    """Bits of an element type, or None where it is no number of a fixed width."""
    return type.bitwidth if isinstance(type, FixedBitwidthType) else None


OPS = (*ELEMENTWISE.values(), SelectOp, CastOp, BitcastOp)
