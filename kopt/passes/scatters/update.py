"""One update by computed rows in a plain form: row numbers of one dimension, and a row of values for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.storage import wide
from kopt.analysis.validity import LaneValidity
from kopt.analysis.values.origin import Origin, origin_of
from kopt.analysis.values.updates import UpdateOp, by_row, gathered, kind_of, places_of, previous_of, values_of
from kopt.dialects.builder import Builder
from kopt.dialects.tile import ALL, BitcastOp, MaskOp, RangeType, ReduceOp, TileType, element_of, is_gather, tile_type
from kopt.dialects.tile.index_list import Entry
from kopt.dialects.tile.types import DimAttr
from kopt.ir.ranges import always_full, binding, ranges_in_scope
from kopt.passes.regrouping import regroup
from kopt.targets.budget import Budget
from kopt.targets.tiling import LANES


@dataclass
class Update:
    """Rows ``index`` of the target, entries ``rest`` of each, combine with ``values``, of dimensions (rows, rest).

    A row number of -1 updates nothing, nor do lanes where ``keep`` does not hold. Lanes go in the order of the rows.
    """

    op: UpdateOp
    build: Builder
    kind: str
    index: SSAValue
    rest: tuple[Entry, ...]
    values: list[SSAValue]
    keep: SSAValue | None
    previous: SSAValue | None
    places: tuple[int, int]
    """Which dimensions of the op's block are the row numbers' own: the first, and how many."""
    origin: Origin | None = None
    """The array that holds the row numbers as they are."""
    is_folded: bool = False
    """Whether the array is of one dimension, in rows of `LANES` elements; ``index`` counts elements."""
    fills_rows: bool = False
    """Whether its blocks of a row have no lanes that the array has and the update leaves alone."""

    @property
    def rows(self) -> int:
        """How many rows it updates."""
        return tile_type(self.index).shape[0]

    @property
    def row(self) -> TileType:
        """The block of one row."""
        type = tile_type(self.values[-1])
        return type.with_dims([DimAttr(LANES)] if self.is_folded else type.dims.data[1:])

    @property
    def width(self) -> int:
        """Elements of one row."""
        return prod(self.row.shape)

    @property
    def is_sent(self) -> bool:
        """Whether rows of an array in HBM are sent at once: they get new values whatever they held."""
        only_stores = self.kind == "xchg" and self.previous is None and self.keep is None and not self.is_folded
        return only_stores and self.fills_rows and self.rows <= Budget.SENT_ROWS

    @property
    def element(self) -> Attribute:
        """The element type that the kernel's author gave."""
        return element_of(values_of(self.op)[-1])

    def folded(self) -> None:
        """The update of an array of one dimension as one of the lanes of its rows."""
        build = self.build
        if self.keep is not None:
            self.index = build.select(self.keep, self.index, build.full(-1, self.index))
        self.keep, self.rest, self.origin, self.is_folded = None, (ALL,), None, True

    def replace_previous(self, rows: SSAValue) -> None:
        """Puts what the rows held before in the old result's place.

        ``rows`` has the dimensions (rows, rest), or for a folded array (rows, lanes), with zeros around each element.
        """
        assert self.previous is not None
        build = self.build
        if self.is_folded:
            rows = self._elements(rows)
        rows = build.cast(rows, self.element)
        type, (first, count) = tile_type(self.previous), self.places
        others = [dim for dim in range(type.rank) if not first <= dim < first + count]
        order = [*range(first, first + count), *others]
        rows = regroup(build, rows, [type.dims.data[dim] for dim in order])
        rows = build.transpose(rows, [order.index(dim) for dim in range(type.rank)])
        rows.name_hint = self.previous.name_hint
        self.previous.replace_all_uses_with(rows)

    def _elements(self, rows: SSAValue) -> SSAValue:
        """The one element of each row that is not zero: sums of bits, which are exact.

        Transposed first, each sum is one lane of the result, as Mosaic lays out one dimension.
        """
        build, element = self.build, element_of(rows)
        bits = rows if element == i32 else build.add(BitcastOp(rows, i32))
        sums = build.add(ReduceOp("add", build.transpose(bits, [1, 0]), [0]))
        sums = build.reshape(sums, tile_type(self.index).dims.data)
        return sums if element == i32 else build.add(BitcastOp(sums, element))


def plain_update(op: UpdateOp, extents: Sequence[int]) -> Update:
    """The plain form of an update, for the array with the dimensions that row numbers index first, and merged.

    ``extents`` are those of these dimensions.
    """
    build = Builder(op)
    positions, shape = gathered(op), op.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    indices = [entry for entry in op.entries if is_gather(entry)]
    found = origin_of(op)
    index, rows = _row_numbers(build, indices, extents)
    keep = op.mask
    if keep is not None and (by := by_row(keep, op)) is not None:
        index = build.select(by, index, build.full(-1, index))
        keep = None
    index.name_hint = "row_numbers"
    keep = build.both(keep, _validity(build, values_of(op)))
    values = [_rows_first(build, value, op, rows) for value in values_of(op)]
    return Update(
        op,
        build,
        kind_of(op),
        regroup(build, index, [rows]),
        tuple(entry for position, entry in enumerate(op.entries) if position not in positions),
        [build.cast(value, wide(element_of(value))) for value in values],
        None if keep is None else _rows_first(build, keep, op, rows),
        previous_of(op),
        places_of(op),
        found,
        fills_rows=all(_fills(entry, extent) for entry, extent in zip(op.entries, shape, strict=True)),
    )


def _row_numbers(build: Builder, indices: Sequence[SSAValue], extents: Sequence[int]) -> tuple[SSAValue, DimAttr]:
    """The number of each row as i32, -1 where a lane is invalid or outside the array; and their dimension."""
    total: SSAValue | None = None
    inside = _validity(build, indices)
    for index, extent in zip(indices, extents, strict=True):
        low, high = build.with_number("ge", index, 0), build.with_number("lt", index, extent)
        inside = build.both(inside, build.compute("and", low, high))
        bounded = build.with_number("maximum", build.with_number("minimum", index, max(0, extent - 1)), 0)
        number = build.cast(bounded, i32)
        total = number if total is None else build.compute("add", build.with_number("mul", total, extent), number)
    assert total is not None and inside is not None
    number = build.select(inside, total, build.full(-1, total))
    type = tile_type(number)
    return _in_ranges(build, number), type.dims.data[0] if type.rank == 1 else DimAttr(prod(type.shape))


def _validity(build: Builder, indices: Sequence[SSAValue]) -> SSAValue | None:
    """Which lanes were made from valid lanes only, where their tags do not tell."""
    validity = LaneValidity()
    result: SSAValue | None = None
    for index in indices:
        result = build.both(result, validity.of(index))
    return result


def _in_ranges(build: Builder, number: SSAValue) -> SSAValue:
    """-1 in lanes outside the ranges that the dimensions are tagged by."""
    scope = ranges_in_scope(build.op)
    ranges = [scope.get(tag) for tag in tile_type(number).tags]
    limits = [None if range is None or always_full(range) else range for range in ranges]
    return number if all(limit is None for limit in limits) else build.add(MaskOp(number, limits, -1))


def _rows_first(build: Builder, value: SSAValue, op: UpdateOp, rows: DimAttr) -> SSAValue:
    """A block of the update with the lanes of the row numbers as its first dimension."""
    first, count = places_of(op)
    rank = tile_type(value).rank
    rest = [dim for dim in range(rank) if not first <= dim < first + count]
    value = build.transpose(value, [*range(first, first + count), *rest])
    return regroup(build, value, [rows, *tile_type(value).dims.data[count:]])


def _fills(entry: Entry, extent: int) -> bool:
    """Whether a block along a dimension ends with its range, or with the array."""
    if not isinstance(entry, SSAValue) or not isinstance(entry.type, RangeType) or always_full(entry):
        return True
    bound = binding(entry)
    return bound.value is entry and bound.lower == 0 and bound.upper == extent


def erase(update: Update) -> None:
    """Removes the op that has been written in another way."""
    Rewriter.erase_op(update.op)
