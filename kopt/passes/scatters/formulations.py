"""The ways to write an update by computed rows: by a product, by a reduction, or one row after the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, StringAttr, bf16, f32, i1, i32
from xdsl.ir import Block, Region, SSAValue

from kopt.analysis.streaming import SPACE
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ALL,
    COMBINING_OPS,
    BeginOp,
    DotOp,
    Entry,
    ExtractOp,
    ForOp,
    GetOp,
    IndexOp,
    LoadOp,
    PutOp,
    RangeType,
    ReduceOp,
    StoreOp,
    TileType,
    YieldOp,
    neutral,
    tile_type,
)
from kopt.dialects.tile.types import DimAttr
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.access_building import AccessBuilder
from kopt.passes.mosaic.building import element_of
from kopt.passes.replacing import replacing
from kopt.passes.scatters.row_numbers import row_numbers
from kopt.passes.scatters.staging import Staging
from kopt.passes.scatters.update import Update
from kopt.passes.scatters.written_operand import WrittenOperand

#: Rows of the target that one product makes.
CHUNK = 512
_MINUS = 4096.0

#: Makes the sums of the rows of some values from a one-hot matrix.
Product = Callable[[AccessBuilder, SSAValue, SSAValue], SSAValue]


@dataclass
class Formulation:
    """Writes an update, in front of the op that it replaces. ``tags`` are those taken in the launch."""

    launch: LaunchOp
    target: WrittenOperand
    update: Update
    tags: set[str]

    def product(self) -> None:
        """Adds the product of a one-hot matrix with the values to whole blocks of rows.

        A product would spread an infinity or NaN over all rows, so those are left out, and if there are any, they are
        counted by a second product.
        """
        build = self.update.build
        values = self._neutralised()
        is_finite = build.compute("lt", build.compute("abs", values), build.full(float("inf"), values))
        finite = build.select(is_finite, values, build.full(0.0, values))
        narrow = self.update.element == bf16
        self._products(build, finite, lambda build, hot, values: _dot(build, hot, values, narrow))
        every = build.add(ReduceOp("min", build.flag(is_finite), range(tile_type(values).rank)))
        strange = scf.IfOp(build.add(ExtractOp(build.with_number("eq", every, 0), i1)), [], _body())
        build.insert(strange)
        self._products(_inside(build, strange.true_region.block), values, _strange_sums)

    def reduction(self) -> None:
        """Compares every lane with every element of a target of one dimension, and combines what is equal."""
        update, build = self.update, self.update.build
        count = self.target.shape[0]
        dims = [tile_type(update.index).dims.data[0], DimAttr(count)]
        hit = build.compute("eq", build.spread(update.index, dims, [0]), build.numbers(count, dims, 1))
        value = build.spread(self._neutralised(), dims, [0])
        value = build.select(hit, value, build.full(neutral(update.kind, element_of(value)), value))
        total = build.add(ReduceOp(update.kind, value, [0]))
        old = build.named("old", replacing(update.op, LoadOp(self.target.memory, [ALL])))
        new = build.named("new", build.compute(COMBINING_OPS[update.kind], old, total))
        build.insert(replacing(update.op, StoreOp(new, self.target.memory, [ALL])))

    def rows(self, space: str | None = None) -> None:
        """Combines one row after the other. With ``space`` each is fetched from there and sent back by DMAs."""
        update = self.update
        simple = update.kind in COMBINING_OPS and update.previous is None
        values = [self._neutralised()] if simple else update.values
        self._rows(update.build, values, None if simple else update.keep, space)

    def send(self) -> None:
        """Stores rows of an array in HBM all at once: DMAs that are on their way together, to a row each.

        Of the lanes that name one row the last one stores; negative row numbers store nothing.
        """
        update, build = self.update, self.update.build
        (value,) = update.values
        count, rows = update.rows, tile_type(update.index).dims.data[0]
        dims = [DimAttr(count), rows]
        plain = build.reshape(update.index, [DimAttr(count)])
        later, number = build.spread(plain, dims, [0]), build.spread(update.index, dims, [1])
        behind = build.compute("gt", build.numbers(count, dims, 0), build.numbers(count, dims, 1))
        again = build.compute("and", build.compute("eq", later, number), behind)
        is_last = build.with_number("eq", build.add(ReduceOp("max", build.flag(again), [0])), 0)
        index = build.named("last_rows", build.select(is_last, update.index, build.full(-1, update.index)))
        stored = build.spread(build.with_number("ge", index, 0), tile_type(value).dims.data, [0])
        store = StoreOp(value, self.target.memory, [index, *update.rest], stored, {SPACE: StringAttr("hbm")})
        build.insert(replacing(update.op, store))

    # Pieces.

    def _neutralised(self) -> SSAValue:
        """The values, with what changes nothing in lanes that update nothing."""
        update, build = self.update, self.update.build
        (value,) = update.values
        if update.keep is None:
            return value
        return build.select(update.keep, value, build.full(neutral(update.kind, element_of(value)), value))

    def _products(self, build: AccessBuilder, values: SSAValue, product: Product) -> None:
        """Adds a product to all rows of the target, at most `CHUNK` at a time."""
        count = self.target.shape[0]
        if count <= CHUNK:
            self._add_product(build, values, product, ALL, build.numbers(count, self._hot_dims(DimAttr(count)), 0))
            return
        loop = self._loop("n", 0, count, CHUNK)
        build.insert(loop)
        build = _inside(build, loop.body.block)
        type = loop.range.type
        assert isinstance(type, RangeType)
        numbers = build.spread(build.add(IndexOp(loop.range)), self._hot_dims(type.dim), [0])
        self._add_product(build, values, product, loop.range, numbers)

    def _hot_dims(self, rows: DimAttr) -> list[DimAttr]:
        return [rows, tile_type(self.update.index).dims.data[0]]

    def _add_product(
        self, build: AccessBuilder, values: SSAValue, product: Product, place: Entry, numbers: SSAValue
    ) -> None:
        """The rows of the target that ``place`` names gain a product of the one-hot matrix of their ``numbers``."""
        entries = [place, *self.update.rest]
        hit = build.compute("eq", numbers, build.spread(self.update.index, tile_type(numbers).dims.data, [1]))
        hot = build.named("hot", build.select(hit, build.full(1.0, hit, f32), build.full(0.0, hit, f32)))
        total = product(build, hot, values)
        old = build.named("old", replacing(self.update.op, LoadOp(self.target.memory, entries)))
        new = build.named("new", build.compute("add", old, total))
        build.insert(replacing(self.update.op, StoreOp(new, self.target.memory, entries)))

    def _rows(
        self, build: AccessBuilder, values: list[SSAValue], keep: SSAValue | None, space: str | None = None
    ) -> None:
        """A loop over the rows, whose numbers are read as scalars."""
        update, stage = self.update, Staging(self.launch, build)
        numbers = row_numbers(build, stage, update.index, update.origin)
        staged = [stage.block(value, "row_values") for value in values]
        kept = None if keep is None else stage.block(build.flag(keep), "row_mask")
        before = None if update.previous is None else stage.empty(self._rows_type(), "row_before")
        inside = self._row_inside(build) if space else None
        loop = self._loop("r", 0, numbers.count, 1)
        build.insert(loop)
        outer, build = build, _inside(build, loop.body.block)
        at = build.named("at", BeginOp(loop.range))
        number, valid = numbers.read(build, at)
        number.name_hint = "n"
        branch = scf.IfOp(build.add(ExtractOp(valid, i1)), [], _body())
        build.insert(branch)
        build = _inside(build, branch.true_region.block)
        entries = [build.named("row", ExtractOp(number, IndexType())), *update.rest]
        attributes = {SPACE: StringAttr(space)} if space else None
        load = replacing(update.op, LoadOp(self.target.memory, entries, attributes=attributes))
        old = build.named("old", load)
        given = [build.add(GetOp(ref, [at, *_alls(update.row)], update.row)) for ref in staged]
        new = combined(build, update.kind, old, given)
        if kept is not None:
            flag = build.add(GetOp(kept, [at, *_alls(update.row)], update.row.with_element(i32)))
            inside = build.both(build.with_number("ne", flag, 0), inside)
        if inside is not None:
            new = build.select(inside, new, old)
        new.name_hint = "new"
        build.insert(replacing(update.op, StoreOp(new, self.target.memory, entries, attributes=attributes)))
        if before is not None:
            build.insert(PutOp(old, before, [at, *_alls(update.row)]))
            type = self._rows_type()
            update.replace_previous(outer.add(GetOp(before, _alls(type), type)))

    def _rows_type(self) -> TileType:
        return tile_type(self.update.values[-1])

    def _row_inside(self, build: AccessBuilder) -> SSAValue | None:
        """Which lanes of a row lie inside their ranges: a DMA writes whole blocks."""
        scope = ranges_in_scope(build.op)
        ranges = [scope.get(tag) for tag in self.update.row.tags]
        limits = [None if range is None or always_full(range) else range for range in ranges]
        return build.inside(self.update.row.dims.data, limits)

    def _loop(self, tag: str, lower: int, upper: SSAValue | int, size: int) -> ForOp:
        number = 0
        while f"{tag}{number}" in self.tags:
            number += 1
        self.tags.add(f"{tag}{number}")
        body = Region(Block([YieldOp()], arg_types=[RangeType(f"{tag}{number}", size)]))
        loop = ForOp(lower, upper, [], body)
        loop.range.name_hint = tag
        return loop


def combined(build: AccessBuilder, kind: str, old: SSAValue, given: list[SSAValue]) -> SSAValue:
    """The new elements of an update of old ones."""
    if kind == "cas":
        expected, desired = given
        return build.select(build.compute("eq", build.bits(old), build.bits(expected)), desired, old)
    return given[0] if kind == "xchg" else build.compute(COMBINING_OPS[kind], old, given[0])


def _dot(build: AccessBuilder, hot: SSAValue, values: SSAValue, narrow: bool) -> SSAValue:
    """The product, in bf16 where that is exact."""
    operands = [build.cast(value, bf16) if narrow else value for value in (hot, values)]
    return build.add(DotOp(*operands, element_type=f32, precision=None if narrow else "ieee"))


def _strange_sums(build: AccessBuilder, hot: SSAValue, values: SSAValue) -> SSAValue:
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


def _body() -> Region:
    return Region(Block([scf.YieldOp()]))


def _inside(build: AccessBuilder, block: Block) -> AccessBuilder:
    """A builder at the end of a body."""
    assert block.last_op is not None
    return AccessBuilder(block.last_op, build.source)


def _alls(type: TileType) -> list[Entry]:
    return [ALL] * type.rank
