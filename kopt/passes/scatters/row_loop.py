"""Updates of one row after the other, whose numbers are read as scalars."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, StringAttr, i1, i32
from xdsl.ir import SSAValue

from kopt.analysis.streaming import SPACE
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ALL,
    COMBINING_OPS,
    BeginOp,
    Entry,
    ExtractOp,
    GetOp,
    LoadOp,
    PutOp,
    StoreOp,
    TileType,
    tile_type,
)
from kopt.ir.ranges import always_full, ranges_in_scope
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import Formulation, body, combined
from kopt.passes.scatters.row_numbers import row_numbers
from kopt.passes.scatters.staging import Staging


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
    staged = [stage.block(value, "row_values") for value in values]
    kept = None if keep is None else stage.block(build.cast(keep, i32), "row_mask")
    before = None if update.previous is None else stage.empty(_rows_type(at), "row_before")
    inside = _row_inside(at, build) if space else None
    loop = at.loop("r", 0, numbers.count, 1)
    build.insert(loop)
    outer, build = build, build.into(loop.body.block)
    visit = build.add(BeginOp(loop.range), "at")
    number, valid = numbers.read(build, visit)
    number.name_hint = "n"
    branch = scf.IfOp(build.add(ExtractOp(valid, i1)), [], body())
    build.insert(branch)
    build = build.into(branch.true_region.block)
    entries = [build.add(ExtractOp(number, IndexType()), "row"), *update.rest]
    attributes = {SPACE: StringAttr(space)} if space else None
    load = replacing(update.op, LoadOp(at.target.memory, entries, attributes=attributes))
    old = build.add(load, "old")
    given = [build.add(GetOp(ref, [visit, *_alls(update.row)], update.row)) for ref in staged]
    new = combined(build, update.kind, old, given)
    if kept is not None:
        flag = build.add(GetOp(kept, [visit, *_alls(update.row)], update.row.with_element(i32)))
        inside = build.both(build.with_number("ne", flag, 0), inside)
    if inside is not None:
        new = build.select(inside, new, old)
    new.name_hint = "new"
    build.insert(replacing(update.op, StoreOp(new, at.target.memory, entries, attributes=attributes)))
    if before is not None:
        build.insert(PutOp(old, before, [visit, *_alls(update.row)]))
        type = _rows_type(at)
        update.replace_previous(outer.add(GetOp(before, _alls(type), type)))


def _rows_type(at: Formulation) -> TileType:
    return tile_type(at.update.values[-1])


def _row_inside(at: Formulation, build: Builder) -> SSAValue | None:
    """Which lanes of a row lie inside their ranges: a DMA writes whole blocks."""
    scope = ranges_in_scope(build.op)
    ranges = [scope.get(tag) for tag in at.update.row.tags]
    limits = [None if range is None or always_full(range) else range for range in ranges]
    return build.inside(at.update.row.dims.data, limits)


def _alls(type: TileType) -> list[Entry]:
    return [ALL] * type.rank
