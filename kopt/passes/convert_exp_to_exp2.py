"""The pass ``convert-exp-to-exp2``: exponents of e become exponents of 2, where the factor costs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.exponents import EXP, LOG2E, MUL, Exponents, exponents, number_of, stays
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ELEMENTWISE, FullOp, GridOp
from kopt.passes.meaning import approximates
from kopt.walk import walk

EXP2 = ELEMENTWISE["exp2"]


@dataclass(frozen=True)
class ConvertExpToExp2Pass(ModulePass):
    """Replaces ``exp`` by ``exp2``: the factor log2(e) goes into a multiplication that is there already.

    Chips compute powers of two, and make ``exp`` of a multiplication by log2(e) and one of these. A softmax multiplies
    its scores by a scale already. Both factors become one, in the running maximum too.

        %s = tile.mul %d, 0.125   %m = tile.maximum %a, …   %x = tile.sub %s, %m   %p = tile.exp %x
    becomes
        %s = tile.mul %d, 0.18033688   %m = tile.maximum %a, …   %x = tile.sub %s, %m   %p = tile.exp2 %x

    The factor goes through sums, differences, maxima, selects, masks and what loops carry (`kopt.analysis.exponents`).
    A value without such a multiplication gets one, if it is small, as logarithms are. A value with other uses is
    multiplied by ln(2) for these. The pass changes nothing where it would multiply as many lanes as it spares. Elements
    other than f32 stay: there the error is not known to be the same. Everything stays where a number may become
    infinite by the factor, as the fill of a mask may, or a loaded value: a row of such numbers alone would become NaN.
    """

    name = "convert-exp-to-exp2"
    meaning = approximates(64)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            for found in [*exponents(grid)]:
                _convert(found)


def _convert(found: Exponents) -> None:
    taken = {value: found.taken(value) for value in found.values}
    exps = [use.operation for uses in taken.values() for use in uses if isinstance(use.operation, EXP)]
    for value in found.values:
        others = frozenset(use for use in taken[value] if not isinstance(use.operation, EXP))
        if isinstance(value.owner, FullOp):
            _scale_constant(value, value.owner, found)
        elif value in found.scaled:
            _scale_number(value)
            _scaled(value, 1 / LOG2E, others)
        elif value in found.given:
            _scaled(value, LOG2E, frozenset(value.uses) - others)
        else:
            _scaled(value, 1 / LOG2E, others)
    # Last: the result of an exponential may be a value of the component itself.
    for exp in exps:
        power = EXP2(exp.operands[0])
        power.location, power.result.name_hint = exp.location, exp.results[0].name_hint
        Rewriter.replace_op(exp, power)


def _scale_constant(value: SSAValue, op: FullOp, found: Exponents) -> None:
    """Gives the values of the component another constant; others keep theirs."""
    if not stays(op.number):
        uses = frozenset(use for use in value.uses if found.ties(use))
        new = Builder(InsertPoint.after(op), op).full(op.number * LOG2E, value)
        value.replace_uses_with_if(new, lambda use: use in uses)


def _scale_number(product: SSAValue) -> None:
    """Puts the factor into the number that a value is the product with."""
    op, number = product.owner, number_of(product)
    assert isinstance(op, MUL) and number is not None and isinstance(number.owner, FullOp)
    scaled = Builder(op).full(number.owner.number * LOG2E, number)
    op.operands[op.operands.index(number)] = scaled


def _scaled(value: SSAValue, factor: float, uses: frozenset[Use]) -> None:
    """Gives some uses of a value its product with a factor."""
    if uses:
        new = Builder.after(value).with_number("mul", value, factor)
        value.replace_uses_with_if(new, lambda use: use in uses)
