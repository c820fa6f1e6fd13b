"""Updates by computed indices that are blocks after all, or whose row numbers are those of whole rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.values.updates import UpdateOp, gathered, is_by_element, previous_of, values_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import FullOp, StoreOp, array_type, tile_type
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.contiguous_run import is_contiguous_run, store_contiguous_run
from kopt.passes.scatters.access import as_blocks, with_numbers
from kopt.passes.scatters.alike import alike
from kopt.walk import walk


def normalise_updates(launch: LaunchOp, memory: SSAValue) -> None:
    """Writes the updates of an array as those of blocks, or of rows or elements by tiles of numbers alone."""
    updates = [op for op in walk(launch, StoreOp, RmwOp, CasOp) if op.memory is memory]
    scattered = [as_blocks(op) for op in updates if gathered(op)]
    scattered, sums = [op for op in scattered if gathered(op)], SumAnalysis()
    if all(isinstance(op, StoreOp) and is_contiguous_run(op, sums) for op in scattered):
        for op in scattered:
            assert isinstance(op, StoreOp)
            store_contiguous_run(op, sums)
        return
    if all(map(is_by_element, scattered)):
        scattered = [with_numbers(op) for op in scattered]
    _erase_idle(alike(scattered, sums))


def _erase_idle(updates: Sequence[UpdateOp]) -> None:
    """Removes updates of no elements; previous ones are undefined."""
    shapes = [tile_type(value).shape for op in updates for value in values_of(op)]
    if not any(0 in shape for shape in (array_type(updates[0].memory).get_shape(), *shapes)):
        return
    for op in updates:
        if (previous := previous_of(op)) is not None:
            previous.replace_all_uses_with(Builder(op).add(FullOp(0, tile_type(previous))))
        Rewriter.erase_op(op)
