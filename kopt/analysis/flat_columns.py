"""Gathers of flat storage that stay in the row at hand, most likely: ``flat[i * n + labels[i]]`` beside ``x[i, :]``.

Pure. Where another access has the rows of a matrix that the flat storage is a view of, an element of lane ``i`` lies in
row ``i`` if what the index has beside the row's begin, its column, is from 0 to below the row's length. Nothing but the
numbers tell: the kernel can look at these, and fetch from memory only if one of them names another row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from kopt.analysis.held_blocks import may_stand_at
from kopt.dialects.host import LaunchOp, ReshapeOp
from kopt.dialects.tile import LoadOp, array_type, tile_type
from kopt.dialects.tile.index_list import is_gather, is_range
from kopt.ir.atoms import BlockNumber, Lane
from kopt.ir.index_expr import ZERO, IndexExpr, lane
from kopt.ir.sums import SumAnalysis
from kopt.walk import walk


@dataclass(frozen=True)
class FlatColumn:
    """The access that has the rows, and the column of each lane's element as long as it is in the lane's row."""

    holder: LoadOp
    column: IndexExpr

    @property
    def extent(self) -> int:
        """The length of a row."""
        return array_type(self.holder.memory).get_shape()[-1]


def flat_column(gather: LoadOp, launch: LaunchOp, sums: SumAnalysis) -> FlatColumn | None:
    """The rows that the elements of a gather of flat storage are meant to be in, or None."""
    args = launch.body.block.args
    number = args.index(gather.memory)
    if number in launch.written or gather.mask is not None or not all(map(is_gather, gather.entries)):
        return None
    if len(gather.entries) != 1 or tile_type(gather.result).rank != 1:
        return None
    address = sums.expr(gather.indices[0])
    for holder in _holders(gather, launch):
        row = _row(holder, tile_type(gather.result).shape, sums)
        column = None if row is None else address - row * array_type(holder.memory).get_shape()[-1]
        if column is not None and _is_told_by_memory(column):
            return FlatColumn(holder, column)
    return None


def _holders(gather: LoadOp, launch: LaunchOp) -> Iterator[LoadOp]:
    """The loads of whole rows of the matrix that flat storage is a view of, which may stand at a gather's place."""
    args = launch.body.block.args
    view = launch.inputs[args.index(gather.memory)].owner
    if not isinstance(view, ReshapeOp):
        return
    for load in walk(launch, LoadOp):
        number = args.index(load.memory)
        same = number < len(launch.inputs) and launch.inputs[number] is view.source and number not in launch.written
        if same and len(load.entries) == 2 and load.mask is None and may_stand_at(load, gather):
            yield load


def _row(holder: LoadOp, lanes: Sequence[int], sums: SumAnalysis) -> IndexExpr | None:
    """The row of each lane, where an access has as many whole rows as there are lanes, one after another."""
    rows, columns = holder.entries
    whole = tile_type(holder.result).shape == (*lanes, array_type(holder.memory).get_shape()[-1])
    if not is_range(rows) or not isinstance(rows, SSAValue) or not whole or isinstance(columns, SSAValue):
        return None
    return sums.begin(rows) + lane(0, lanes[0])


def _is_told_by_memory(column: IndexExpr) -> bool:
    """Whether the numbers of lanes and blocks have gone from a sum, and some that are loaded are left."""
    return column != ZERO and column.number is None and not any(isinstance(a, Lane | BlockNumber) for a in column.terms)
