"""Exponents of e that cost less as exponents of 2: all values between products with a number and ``exp``. Pure.

    %s = mul %d, 0.125     %m = maximum %a, (reduce max %s)     %p = exp (sub %s, %m)

Maxima, sums and differences keep a common factor. Where every value that an exponent comes of has the factor log2(e),
``exp`` is ``exp2``, which spares the unit its own product; the factor is had for nothing where there is a number to
multiply with already.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import bf16, f32, f64
from xdsl.ir import Operation, SSAValue, Use

from kopt.analysis.ties import Ties, in_loop
from kopt.cached_property import cached_property
from kopt.dialects.canonicalization.elementwise import constant
from kopt.dialects.tile import (
    COMPARISONS,
    ELEMENTWISE,
    BroadcastOp,
    CastOp,
    FullOp,
    MaskOp,
    ReduceOp,
    ReshapeOp,
    SelectOp,
    TransposeOp,
    element_of,
    tile_type,
)
from kopt.walk import walk

EXP, MUL = ELEMENTWISE["exp"], ELEMENTWISE["mul"]
_LINEAR = tuple(ELEMENTWISE[name] for name in ("add", "sub", "neg", "maximum", "minimum"))
_MOVED = (BroadcastOp, ReshapeOp, TransposeOp)
LOG2E = math.log2(math.e)
_LOGARITHMS, _ANGLES = ("log", "log2", "log10", "log1p", "asinh", "acosh"), ("asin", "acos", "atan", "atan2")
#: Ops whose results are small, whatever they are of: but for infinite ones.
_SMALL = tuple(ELEMENTWISE[name] for name in (*_LOGARITHMS, *_ANGLES, "sin", "cos", "tanh", "erf", "sigmoid"))
#: The largest number of f32.
_MOST = 3.4028234663852886e38
#: Trips that loops are taken to have, where only ops inside and outside are weighed against each other.
_TRIPS = 8


def stays(number: float | None) -> bool:
    """Whether a factor that is positive leaves a number as it is."""
    return number is not None and (number == 0 or not math.isfinite(number))


def _linear(op: Operation) -> Sequence[SSAValue]:
    """The operands that have the factor of an op's result."""
    if isinstance(op, SelectOp):
        return op.on_true, op.on_false
    if isinstance(op, MaskOp):
        return (op.input,) if stays(op.fill_number) else ()
    linear = isinstance(op, (*_LINEAR, *_MOVED)) or isinstance(op, ReduceOp) and op.kind.data in ("add", "max", "min")
    return op.operands if linear else ()


_TIES = Ties(_linear)


@dataclass(frozen=True)
class Exponents:
    """Values of one common factor, some of which are exponents."""

    values: tuple[SSAValue, ...]

    @cached_property
    def given(self) -> list[SSAValue]:
        """The values that others make, constants left out."""
        return [value for value in self.values if not _TIES.makes(value) and not isinstance(value.owner, FullOp)]

    @cached_property
    def scaled(self) -> list[SSAValue]:
        """Of these the products with a number, which may have the factor in it."""
        return [value for value in self.given if number_of(value) is not None]

    def taken(self, value: SSAValue) -> list[Use]:
        """The uses of a value that the factor changes: by ops that hand it on no further."""
        if isinstance(value.owner, FullOp):
            return []
        return [use for use in value.uses if not self.ties(use) and not _is_sign(use)]

    def ties(self, use: Use) -> bool:
        """Whether an op of the component uses a value, and hands the factor on."""
        return _TIES.result(use) in self._inside

    @cached_property
    def _inside(self) -> frozenset[SSAValue]:
        return frozenset(self.values)

    @property
    def overflows(self) -> bool:
        """Whether some number may be infinite with the factor, and finite without: the least one of f32 masks lanes.

        Of a row that is masked as a whole the differences are 0 where the number is finite, and NaN where it is not.
        What is loaded may be such a mask. A product overflows with one number nearly where it does with the other.
        """
        unknown = (value for value in self.given if value not in self.scaled)
        return any(map(_overflows, self._numbers())) or not all(map(_is_small, unknown))

    def _numbers(self) -> Iterator[float | None]:
        """The numbers that get the factor: constants, those of products, and what stands for masked lanes."""
        for value in self.values:
            product = number_of(value)
            yield constant(value if product is None else product)
            if isinstance(value.owner, MaskOp):
                yield value.owner.fill_number

    @property
    def pays(self) -> bool:
        """Whether fewer lanes are multiplied with the factor than without it."""
        lanes = sum(_lanes(value.owner, value) for value in self.given if value not in self.scaled)
        for value in self.values:
            for use in self.taken(value):
                lanes += _lanes(use.operation, value) * (-1 if isinstance(use.operation, EXP) else 1)
        return lanes < 0


def number_of(value: SSAValue) -> SSAValue | None:
    """The constant that a value is the product with, if it is one."""
    if not isinstance(value.owner, MUL):
        return None
    return next((one for one in value.owner.inputs if constant(one) is not None), None)


def exponents(top: Operation) -> Iterator[Exponents]:
    """The exponents of e that cost less as those of 2."""
    seen: set[SSAValue] = set()
    for op in walk(top, EXP):
        (value,) = op.inputs
        if value not in seen and element_of(value) == f32:
            found = Exponents(_TIES.component(value))
            seen.update(found.values)
            if found.pays and not found.overflows:
                yield found


def _overflows(number: float | None) -> bool:
    """Whether a finite number has no finite product with the factor."""
    return number is not None and not stays(number) and abs(number) > _MOST / LOG2E


def _is_small(value: SSAValue) -> bool:
    """Whether no finite number of a value comes near the largest one."""
    if isinstance(value.owner, CastOp):
        return element_of(value.owner.input) not in (bf16, f32, f64)
    if isinstance(value.owner, MaskOp):
        return _is_small(value.owner.input)
    return isinstance(value.owner, _SMALL)


def _is_sign(use: Use) -> bool:
    """Whether a use compares a value with a number that no factor changes."""
    return isinstance(use.operation, COMPARISONS) and any(stays(constant(value)) for value in use.operation.operands)


def _lanes(op: object, value: SSAValue) -> int:
    """The lanes of a value, as often as an op takes them."""
    return math.prod(tile_type(value).shape) * (_TRIPS if isinstance(op, Operation) and in_loop(op) else 1)
