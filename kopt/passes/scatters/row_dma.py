"""Updates of rows in HBM: each is fetched and sent back by DMAs, or all are sent together."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i32

from kopt.analysis.streaming import SPACE
from kopt.diagnostics import remark
from kopt.dialects.builder import named
from kopt.dialects.tile import (
    ReduceOp,
    StoreOp,
    tile_type,
)
from kopt.dialects.tile.types import DimAttr
from kopt.passes.replacing import replacing
from kopt.passes.scatters.formulation import Formulation
from kopt.passes.scatters.row_loop import update_rows


def update_rows_in_hbm(at: Formulation) -> None:
    """Sends the rows of what is only stored; fetches, changes and sends back those of other updates."""
    sent = at.update.is_sent
    how = "its rows are sent together" if sent else "each of its rows is fetched and sent back"
    remark(at.update.op, f"'{at.target.name}' stays in HBM: {how} by DMAs")
    send_rows(at) if sent else update_rows(at, "hbm")


def send_rows(at: Formulation) -> None:
    """Stores rows of an array in HBM all at once: DMAs that are on their way together, to a row each.

    Of the lanes that name one row the last one stores; negative row numbers store nothing.
    """
    update, build = at.update, at.update.build
    (value,) = update.values
    count, rows = update.rows, tile_type(update.index).dims.data[0]
    dims = [DimAttr(count), rows]
    plain = build.reshape(update.index, [DimAttr(count)])
    later, number = build.spread(plain, dims, [0]), build.spread(update.index, dims, [1])
    behind = build.compute("gt", build.numbers(count, dims, 0), build.numbers(count, dims, 1))
    again = build.compute("and", build.compute("eq", later, number), behind)
    is_last = build.with_number("eq", build.add(ReduceOp("max", build.cast(again, i32), [0])), 0)
    index = named(build.select(is_last, update.index, build.full(-1, update.index)), "last_rows")
    stored = build.spread(build.with_number("ge", index, 0), tile_type(value).dims.data, [0])
    store = StoreOp(value, at.target.memory, [index, *update.rest], stored, {SPACE: StringAttr("hbm")})
    build.insert(replacing(update.op, store))
