"""Powers by small numbers, exactly as torch computes them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.dialects.tile import element_of


def _product(build: Builder, first: SSAValue, *others: SSAValue) -> SSAValue:
    for factor in others:
        first = build.add(tile.ELEMENTWISE["mul"](first, factor))
    return first


#: Exponent -> the factors or the function that give the power exactly as torch does.
_POWERS: dict[float, Callable[[Builder, SSAValue], SSAValue]] = {
    1.0: lambda build, x: x,
    2.0: lambda build, x: _product(build, x, x),
    3.0: lambda build, x: _product(build, x, x, x),
    -1.0: lambda build, x: build.add(tile.ELEMENTWISE["reciprocal"](x)),
}


class ExpandPower(RewritePattern):
    """``pow %x, 3`` → ``%x * %x * %x``, ``pow %x, -1`` → the reciprocal; roots are other values of -0.0 and -inf."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tile.ElementwiseOp, rewriter: PatternRewriter, /) -> None:
        base, exponent = op.inputs
        constant = exponent.owner
        if not isinstance(constant, tile.FullOp) or not tile.is_float(element_of(op.result)):
            return
        make = _POWERS.get(float(constant.number))
        if make is None:
            return
        build = Builder(op, rewriter=rewriter)
        power = make(build, base)
        if power is not base:
            power.name_hint = op.result.name_hint
        rewriter.replace(op, [], [power])
