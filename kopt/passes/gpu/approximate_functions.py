"""The pass ``approximate-functions``: fast quotients and functions, where only results of 16 bits leave."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.analysis.exact_results import exact_values
from kopt.dialects import tile, triton
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import constant
from kopt.passes.meaning import approximates
from kopt.walk import walk

_ADD, _DIV, _MUL, _POW = (tile.ELEMENTWISE[name] for name in ("add", "div", "mul", "pow"))
_RSQRT, _SIGMOID, _TANH = (tile.ELEMENTWISE[name] for name in ("rsqrt", "sigmoid", "tanh"))
#: Ops that hand the values of lanes on.
_LAYOUT = (tile.BroadcastOp, tile.ReshapeOp, triton.RetagOp)
_APPROXIMATE = tuple(tile.ELEMENTWISE[name] for name in triton.APPROXIMATE_FUNCTIONS)
#: Numbers whose reciprocals are no denormal ones, and the other way round.
_LEAST, _MOST = 2.0**-126, 2.0**126
#: What small numbers lost, when they were multiplied too late, is not multiplied by more.
_MOST_FACTOR = 16
#: The error of a fast logarithm is multiplied by the power.
_MOST_POWER = 16


@dataclass(frozen=True)
class ApproximateFunctionsPass(ModulePass):
    """Marks f32 ops as ``triton.approximate`` where every use casts the result to 16 bits or fewer.

    A GPU divides to within 2 ulp in few instructions, and rounds correctly in many; sigmoids, tangents and powers are
    made of quotients. A cast hides an error of that size. A store, a comparison or a rounding to whole numbers does
    not, so the values behind it stay exact (`kopt.analysis.exact_results`). Where errors are hidden, a division by a
    constant becomes a product with its reciprocal. So does every division by a power of two, because that is exact. So
    does a division whose quotients only go into reciprocal square roots: these halve an error, and are approximations
    themselves. ``1 + tanh(x)`` becomes ``2 * sigmoid(2 * x)``, which needs no series where ``x`` is small. Powers are
    approximated for constant exponents up to 16: the error of the logarithm grows with the exponent. Constant factors
    of a product are multiplied at once, where all but one are powers of two: ``x * 0.5 * (y * 2.0)`` is ``x * y``.

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
            for inner in walk(grid, _ADD):
                if tile.element_of(inner.result) == f32 and inner.result not in exact:
                    _as_sigmoid(inner)
            for inner in walk(grid, *_APPROXIMATE):
                if tile.element_of(inner.result) == f32:
                    _approximate(inner, inner.result in exact)
            for inner in walk(grid, _MUL):
                if tile.element_of(inner.result) == f32 and inner.result not in exact:
                    _multiply_constants(inner)


def _approximate(op: tile.ElementwiseOp, exact: bool) -> None:
    number = constant(op.inputs[1]) if isinstance(op, _DIV) else None
    if number is not None and _LEAST <= abs(number) <= _MOST and (not exact or _hides(op, number)):
        build = Builder(op)
        product = build.with_number("mul", op.inputs[0], 1 / number)
        product.name_hint = op.result.name_hint
        build.replace(product)
    elif not exact and not _amplifies(op):
        op.attributes[triton.APPROXIMATE] = UnitAttr()


def _hides(op: tile.ElementwiseOp, number: float) -> bool:
    """Whether nobody sees that a quotient was a product with the reciprocal of a number."""
    return _is_power_of_two(number) or _is_under_root(op.result)


def _is_power_of_two(number: float) -> bool:
    return abs(math.frexp(number)[0]) == 0.5


def _is_under_root(value: SSAValue) -> bool:
    """Whether a value is only seen through reciprocal square roots of itself, or of itself and a positive number."""
    return bool(value.uses) and all(_roots(use.operation) for use in value.uses)


def _roots(op: Operation) -> bool:
    if isinstance(op, _RSQRT):
        return True
    added = isinstance(op, _ADD) and any((constant(one) or -1) > 0 for one in op.inputs)
    return (added or isinstance(op, _LAYOUT)) and _is_under_root(op.results[0])


def _as_sigmoid(op: tile.ElementwiseOp) -> None:
    """``1 + tanh(x)`` where nothing else has the tangent."""
    for tangent, other in (op.inputs, op.inputs[::-1]):
        if isinstance(tangent.owner, _TANH) and constant(other) == 1 and tangent.has_one_use():
            build = Builder(op)
            twice = build.with_number("mul", tangent.owner.inputs[0], 2.0)
            share = build.add(_SIGMOID(twice))
            build.replace(build.with_number("mul", share, 2.0))
            Rewriter.erase_op(tangent.owner)
            return


def _multiply_constants(op: tile.ElementwiseOp) -> None:
    """Makes one product of the constant factors of a product and of those in it.

    Each but one is a power of two, so that nothing is rounded otherwise. The others' product is never nearer to the
    largest number than what comes out.
    """
    parts = [_taken_apart(value) for value in op.inputs]
    factors = [factor for factor, _ in parts if factor is not None]
    values = [rest for _, rest in parts if rest is not None]
    if len(factors) < 2 or not values or not _may_multiply(factors, len(values)):
        return
    inner = [value.owner for value, (factor, rest) in zip(op.inputs, parts, strict=True) if None not in (factor, rest)]
    build = Builder(op)
    product = values[0] if len(values) == 1 else build.add(_MUL(*values))
    if math.prod(factors) != 1:
        product = build.with_number("mul", product, math.prod(factors))
    if product is not values[0]:
        product.name_hint = op.result.name_hint
    build.replace(product)
    for other in inner:
        assert isinstance(other, Operation)
        Rewriter.erase_op(other)


def _taken_apart(value: SSAValue) -> tuple[float | None, SSAValue | None]:
    """A value's constant factor, and what it multiplies: a constant has no other part, and other values no factor."""
    if (number := constant(value)) is not None:
        return number, None
    if isinstance(value.owner, _MUL) and value.has_one_use():
        for one, rest in (value.owner.inputs, value.owner.inputs[::-1]):
            if (number := constant(one)) is not None and constant(rest) is None:
                return number, rest
    return None, value


def _may_multiply(factors: Sequence[float], values: int) -> bool:
    """Whether factors are multiplied exactly, and the product of other values by theirs may be taken first."""
    factor = abs(math.prod(factors))
    is_exact = sum(not _is_power_of_two(number) for number in factors) < 2
    return is_exact and (_LEAST <= factor <= _MOST if values == 1 else 1 <= factor <= _MOST_FACTOR)


def _amplifies(op: tile.ElementwiseOp) -> bool:
    """Whether an op makes an error of some ulp inside of it larger."""
    power = constant(op.inputs[1]) if isinstance(op, _POW) else 0
    return power is None or abs(power) > _MOST_POWER
