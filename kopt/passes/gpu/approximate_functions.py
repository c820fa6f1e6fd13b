"""The pass ``approximate-functions``: fast quotients and functions, where only results of 16 bits leave."""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32
from xdsl.passes import ModulePass

from kopt.analysis.exact_results import exact_values
from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import constant
from kopt.passes.meaning import approximates
from kopt.walk import walk

_DIV, _POW = tile.ELEMENTWISE["div"], tile.ELEMENTWISE["pow"]
_APPROXIMATE = tuple(tile.ELEMENTWISE[name] for name in triton.APPROXIMATE_FUNCTIONS)
#: Numbers whose reciprocals are no denormal ones, and the other way round.
_LEAST, _MOST = 2.0**-126, 2.0**126
#: The error of a fast logarithm is multiplied by the power.
_MOST_POWER = 16


@dataclass(frozen=True)
class ApproximateFunctionsPass(ModulePass):
    """Marks f32 ops as ``triton.approximate`` where every use casts the result to 16 bits or fewer.

    A GPU divides to within 2 ulp in few instructions, and rounds correctly in many; sigmoids, tangents and powers are
    made of quotients. A cast hides an error of that size. A store, a comparison or a rounding to whole numbers does
    not, so the values behind it stay exact (`kopt.analysis.exact_results`). Where errors are hidden, a division by a
    constant becomes a product with its reciprocal. A division by a power of two becomes one everywhere, because that is
    exact. Powers are approximated for constant exponents up to 16: the error of the logarithm grows with the exponent.

        %q = tile.div %a, %b : !tile.tile<8 x f32>    %h = tile.cast %q : … to !tile.tile<8 x bf16>
    becomes
        %q = tile.div %a, %b {triton.approximate} : !tile.tile<8 x f32>    %h = tile.cast %q : …

    It never refuses.
    """

    name = "approximate-functions"
    meaning = approximates(64)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            exact = exact_values(grid)
            for inner in walk(grid, *_APPROXIMATE):
                if tile.element_of(inner.result) == f32:
                    _approximate(inner, inner.result in exact)


def _approximate(op: tile.ElementwiseOp, exact: bool) -> None:
    number = constant(op.inputs[1]) if isinstance(op, _DIV) else None
    if number is not None and _LEAST <= abs(number) <= _MOST and (not exact or abs(math.frexp(number)[0]) == 0.5):
        build = Builder(op)
        product = build.with_number("mul", op.inputs[0], 1 / number)
        product.name_hint = op.result.name_hint
        build.replace(product)
    elif not exact and not _amplifies(op):
        op.attributes[triton.APPROXIMATE] = UnitAttr()


def _amplifies(op: tile.ElementwiseOp) -> bool:
    """Whether an op makes an error of some ulp inside of it larger."""
    power = constant(op.inputs[1]) if isinstance(op, _POW) else 0
    return power is None or abs(power) > _MOST_POWER
