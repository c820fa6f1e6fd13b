"""Sums of rows by a product: a matrix of ones and zeros, times the values."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import scf
from xdsl.dialects.builtin import bf16, f32, i1, i32
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import (
    ALL,
    DotOp,
    Entry,
    ExtractOp,
    IndexOp,
    LoadOp,
    ReduceOp,
    StoreOp,
    range_type,
    tile_type,
)
from kopt.dialects.tile.types import DimAttr
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import Formulation, body

#: Rows of the target that one product makes.
CHUNK = 512
_MINUS = 4096.0

#: Makes the sums of the rows of some values from a one-hot matrix.
Product = Callable[[Builder, SSAValue, SSAValue], SSAValue]


def add_product(at: Formulation) -> None:
    """Adds the product of a one-hot matrix with the values to whole blocks of rows.

    A product would spread an infinity or NaN over all rows, so those are left out, and if there are any, they are
    counted by a second product.
    """
    build = at.update.build
    values = at.neutralised()
    is_finite = build.compute("lt", build.compute("abs", values), build.full(float("inf"), values))
    finite = build.select(is_finite, values, build.full(0.0, values))
    narrow = at.update.element == bf16
    _products(at, build, finite, lambda build, hot, values: _dot(build, hot, values, narrow))
    every = build.add(ReduceOp("min", build.cast(is_finite, i32), range(tile_type(values).rank)))
    strange = scf.IfOp(build.add(ExtractOp(build.with_number("eq", every, 0), i1)), [], body())
    build.insert(strange)
    _products(at, build.into(strange.true_region.block), values, _strange_sums)


def _products(at: Formulation, build: Builder, values: SSAValue, product: Product) -> None:
    """Adds a product to all rows of the target, at most `CHUNK` at a time."""
    count = at.target.shape[0]
    if count <= CHUNK:
        _add_product(at, build, values, product, ALL, build.numbers(count, _hot_dims(at, DimAttr(count)), 0))
        return
    loop = at.loop("n", 0, count, CHUNK)
    build.insert(loop)
    build = build.into(loop.body.block)
    type = range_type(loop.range)
    numbers = build.spread(build.add(IndexOp(loop.range)), _hot_dims(at, type.dim), [0])
    _add_product(at, build, values, product, loop.range, numbers)


def _hot_dims(at: Formulation, rows: DimAttr) -> list[DimAttr]:
    return [rows, tile_type(at.update.index).dims.data[0]]


def _add_product(
    at: Formulation, build: Builder, values: SSAValue, product: Product, place: Entry, numbers: SSAValue
) -> None:
    """The rows of the target that ``place`` names gain a product of the one-hot matrix of their ``numbers``."""
    entries = [place, *at.update.rest]
    hit = build.compute("eq", numbers, build.spread(at.update.index, tile_type(numbers).dims.data, [1]))
    hot = named(build.select(hit, build.full(1.0, hit, f32), build.full(0.0, hit, f32)), "hot")
    total = product(build, hot, values)
    old = build.add(replacing(at.update.op, LoadOp(at.target.memory, entries)), "old")
    new = named(build.compute("add", old, total), "new")
    build.insert(replacing(at.update.op, StoreOp(new, at.target.memory, entries)))


def _dot(build: Builder, hot: SSAValue, values: SSAValue, narrow: bool) -> SSAValue:
    """The product, in bf16 where that is exact."""
    operands = [build.cast(value, bf16) if narrow else value for value in (hot, values)]
    return build.add(DotOp(*operands, element_type=f32, precision=None if narrow else "ieee"))


def _strange_sums(build: Builder, hot: SSAValue, values: SSAValue) -> SSAValue:
    """The sums of infinities and NaNs: 0 where there are none.

    An infinity counts 1, a negative one `_MINUS`, and a NaN more than all of those that a row may meet: powers of two,
    which bf16 holds, with sums that f32 holds.
    """
    code = build.full(0.0, values)
    for number, count in ((float("inf"), 1.0), (float("-inf"), _MINUS)):
        code = build.select(build.with_number("eq", values, number), build.full(count, values), code)
    code = build.select(build.compute("isnan", values), build.full(_MINUS * _MINUS, values), code)
    counts = _dot(build, hot, code, narrow=True)
    minus = build.compute("floor", build.with_number("mul", counts, 1 / _MINUS))
    plus = build.compute("sub", counts, build.with_number("mul", minus, _MINUS))
    total = build.full(0.0, counts)
    for count, number in ((plus, float("inf")), (minus, float("-inf"))):
        total = build.select(build.with_number("gt", count, 0.0), build.full(number, counts), total)
    both = build.compute("and", build.with_number("gt", plus, 0.0), build.with_number("gt", minus, 0.0))
    is_nan = build.compute("or", both, build.with_number("ge", counts, _MINUS * _MINUS))
    return build.select(is_nan, build.full(float("nan"), counts), total)
