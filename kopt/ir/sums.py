"""Integer tiles as sums of what there is: of numbers of blocks, lanes, and values that keep their names.

    (starts[:, None] // 2 + k.index[None, :]) * 20     is     20 · half[0] + 20 · 16 · block(k) + 20 · lane(1: 16)
                                                              of %half = tile.floordiv %starts, %two

What is written again is written with values that there are, and computed once. Element numbers are counted as far as
there is memory: sums of 32 bits or more do not wrap. So the range of such a sum is right where its type holds it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import DimAttr, ElementwiseOp, RangeType, SelectOp, TileType, element_of
from kopt.ir.atoms import BlockNumber, Lane, Symbol
from kopt.ir.condition import Condition
from kopt.ir.forms import Form, held
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.polynomial import Coefficient, quotient
from kopt.ir.to_ssa import at_begins
from kopt.ir.value_range import ANY, ValueRange

#: Elementwise ops whose low bits are those of sums and products.
_SUMS = ("add", "sub", "mul", "neg", "not", "shl")


@dataclass(frozen=True)
class Term:
    """``factor`` times what counts: the lanes of a range along ``dim``, its begin (no ``dim``), or an atom."""

    counted: IndexExpr
    factor: int
    range: SSAValue | None = None
    dim: int | None = None

    @property
    def expr(self) -> IndexExpr:
        """The term as a sum."""
        return self.counted * self.factor


class SumAnalysis(IndexAnalysis):
    """The sums of values; ``exact`` has their forms as they are computed, for proofs.

    Lanes of a range that a type does not tell by its tag keep their name: nobody would know which of them are valid.
    """

    def __init__(self):
        super().__init__(sums=True)
        self.exact = IndexAnalysis()

    def number(self, range: SSAValue) -> IndexExpr:
        return self.exact.number(range)

    def condition(self, value: SSAValue) -> Condition:
        return self.exact.condition(value)

    def terms(self, expr: IndexExpr, dims: Sequence[DimAttr], scope: Mapping[str, SSAValue]) -> tuple[list[Term], int]:
        """The terms of a sum over a tile's dimensions, lanes of ranges and their begins as one each; and the number.

        ``scope`` has the range of each tag.
        """
        found: list[Term] = []
        for dim, attr in enumerate(dims):
            range = scope.get(attr.tag.data)
            if range is not None and range.type == RangeType(attr.tag.data, attr.size.data):
                lanes = self.lanes(range, dim)
                if factor := _factor(expr, lanes, Lane(dim, attr.size.data)):
                    expr = expr - lanes * factor
                    found.append(Term(lanes, factor, range, dim))
        expr, begun = at_begins(expr, self.begin)
        found += [Term(self.begin(range), _known(factor), range) for range, factor in begun]
        found += [Term(IndexExpr(0, {atom: 1}), _known(factor)) for atom, factor in expr.terms.items()]
        return found, _known(expr.const)

    def _found(self, value: SSAValue) -> Form | ValueRange | None:
        if element_of(value.type) == i1:
            return self.exact.condition(value)
        return self.exact.expr(value) if _is_rounded(value) else super()._found(value)

    def _kept(self, found: Form | ValueRange | None, value: SSAValue) -> Form:
        element = element_of(value.type)
        if not isinstance(found, IndexExpr) or not isinstance(element, IntegerType):
            return super()._kept(found, value)
        total = found if element.width.data >= 32 else held(found, element)
        return total if is_sum(total) and not _drops_tags(value) else self.named(value)

    def named(self, value: SSAValue, known: ValueRange = ANY) -> Form:
        return super().named(value, known if element_of(value.type) == i1 else self.exact.range(value))


def is_sum(expr: IndexExpr) -> bool:
    """Whether an expression is a sum of what there is."""
    return all(isinstance(atom, BlockNumber | Lane | Symbol) for atom in expr.terms)


def _factor(expr: IndexExpr, lanes: IndexExpr, lane: Lane) -> int:
    """How often a sum counts the lanes of a range; those of one that begins elsewhere are not these."""
    if not lanes.terms:
        return 0
    counted = lane if lane in lanes.terms else next(iter(lanes.terms))
    factor = quotient(expr.coefficient(counted), lanes.coefficient(counted)) or 0
    left = len((expr - lanes * factor).terms)
    return _known(factor) if left + min(2, len(lanes.terms)) <= len(expr.terms) else 0


def _known(number: Coefficient) -> int:
    assert isinstance(number, int)
    return number


def _is_rounded(value: SSAValue) -> bool:
    """Whether a value is known only where its operands are, not their low bits alone."""
    op = value.owner
    if isinstance(op, ElementwiseOp):
        return op.ROW.name not in _SUMS
    return isinstance(value.type, IntegerType) or isinstance(op, SelectOp)


def _drops_tags(value: SSAValue) -> bool:
    """Whether lanes of a range stand along a dimension without its tag."""
    if not isinstance(value.type, TileType) or not isinstance(value.owner, Operation):
        return False
    before = {
        dim.tag.data
        for operand in value.owner.operands
        if isinstance(operand.type, TileType)
        for dim in operand.type.dims.data
        if dim.tag.data and dim.size.data > 1
    }
    return not before <= set(value.type.tags)
