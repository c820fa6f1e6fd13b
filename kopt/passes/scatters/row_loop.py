"""Updates of one row after the other, whose numbers are read as scalars."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, StringAttr, i1, i32
from xdsl.ir import SSAValue

from kopt.analysis.streaming import SPACE
from kopt.dialects.builder import Builder, named
from kopt.dialects.tile import (
    ALL,
    COMBINING_OPS,
    BeginOp,
    Entry,
    ExtractOp,
    FullOp,
    GetOp,
    LoadOp,
    PutOp,
    StoreOp,
    TileType,
    element_of,
    tile_type,
)
from kopt.dialects.tile.types import DimAttr
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import Formulation, body, combined
from kopt.passes.scatters.row_numbers import row_numbers
from kopt.passes.scatters.staging import Staging
from kopt.passes.scatters.update import Update
from kopt.targets.tiling import LANES

#: Makes the row of one visit, whose number is given.
Read = Callable[[Builder, SSAValue], SSAValue]


def update_rows(at: Formulation, space: str | None = None) -> None:
    """Combines one row after the other. With ``space`` each is fetched from there and sent back by DMAs."""
    update = at.update
    simple = update.kind in COMBINING_OPS and update.previous is None
    values = [at.neutralised()] if simple else update.values
    _rows(at, update.build, values, None if simple else update.keep, space)


def _rows(
    at: Formulation, build: Builder, values: list[SSAValue], keep: SSAValue | None, space: str | None = None
) -> None:
    """A loop over the rows, whose numbers are read as scalars."""
    update, stage = at.update, Staging(at.launch, build)
    numbers = row_numbers(build, stage, update.index, update.origin)
    staged = [_staged(update, stage, value) for value in values]
    kept = None if keep is None else stage.block(build.cast(keep, i32), "row_mask")
    before = None if update.previous is None else stage.empty(_rows_type(at), "row_before")
    inside = _row_inside(at, build) if space else None
    loop = at.loop("r", 0, numbers.count, 1)
    build.insert(loop)
    outer, build = build, build.into(loop.body.block)
    visit = build.add(BeginOp(loop.range), "at")
    number, valid = numbers.read(build, visit)
    number.name_hint = "n"
    if space or not update.is_folded:  # without a branch, visits overlap
        branch = scf.IfOp(build.add(ExtractOp(valid, i1)), [], body())
        build.insert(branch)
        build = build.into(branch.true_region.block)
    hit = None
    if update.is_folded:
        number, hit = _row_and_lane(build, number)
        inside = build.both(hit, inside)
    entries = [build.add(ExtractOp(number, IndexType()), "row"), *update.rest]
    attributes = {SPACE: StringAttr(space)} if space else None
    load = replacing(update.op, LoadOp(at.target.memory, entries, attributes=attributes))
    old = build.add(load, "old")
    given = [read(build, visit) for read in staged]
    new = combined(build, update.kind, old, given)
    if kept is not None:
        flag = build.add(GetOp(kept, [visit, *_alls(update.row)], update.row.with_element(i32)))
        inside = build.both(build.with_number("ne", flag, 0), inside)
    if inside is not None:
        new = build.select(inside, new, old)
    new.name_hint = "new"
    build.insert(replacing(update.op, StoreOp(new, at.target.memory, entries, attributes=attributes)))
    if before is not None:
        kept_old = old if hit is None else build.select(hit, old, build.full(0, old))
        build.insert(PutOp(kept_old, before, [visit, *_alls(update.row)]))
        type = _rows_type(at)
        update.replace_previous(outer.add(GetOp(before, _alls(type), type)))


def _rows_type(at: Formulation) -> TileType:
    """The block of all rows, one under the other."""
    return at.update.row.with_dims([*tile_type(at.update.index).dims.data, *at.update.row.dims.data])


def _staged(update: Update, stage: Staging, value: SSAValue) -> Read:
    """How a visit reads its row of a value: from memory on the chip.

    A folded array's rows get one element each, a scalar. A number that all elements share needs no memory.
    """
    if not update.is_folded:
        ref = stage.block(value, "row_values")
        return lambda build, visit: build.add(GetOp(ref, [visit, *_alls(update.row)], update.row))
    row = update.row.with_element(element_of(value))
    if isinstance(value.owner, FullOp):
        number = value.owner.value
        return lambda build, _: build.add(FullOp(number, row))
    scalars, scalar = stage.scalars(value, "row_value"), TileType([], row.element_type)
    return lambda build, visit: build.spread(build.add(GetOp(scalars, [visit], scalar)), row.dims.data, [])


def _row_and_lane(build: Builder, number: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Of an element of a folded array: the number of its row, and which lane it is. No lane is number -1."""
    row = build.with_number("maximum", build.with_number("shr", number, LANES.bit_length() - 1), 0)
    lane, dims = build.compute("sub", number, build.with_number("mul", row, LANES)), [DimAttr(LANES)]
    return row, named(build.compute("eq", build.numbers(LANES, dims, 0), build.spread(lane, dims, [])), "hit")


def _row_inside(at: Formulation, build: Builder) -> SSAValue | None:
    """Which lanes of a row lie inside their ranges: a DMA writes whole blocks."""
    scope = ranges_in_scope(build.op)
    ranges = [scope.get(tag) for tag in at.update.row.tags]
    limits = [None if range is None or always_full(range) else range for range in ranges]
    return build.inside(at.update.row.dims.data, limits)


def _alls(type: TileType) -> list[Entry]:
    return [ALL] * type.rank
