"""Loads by computed indices that are blocks after all, or gathers of fewer indices: how an access is written."""

from __future__ import annotations

from kopt.analysis.store_to_load import seen_writes
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.sums import SumAnalysis
from kopt.passes.access_building import with_entries
from kopt.passes.launch_arrays import Arrays
from kopt.passes.normalising.broadcast_indices import without_repeats
from kopt.passes.normalising.delinearise import delinearised
from kopt.passes.normalising.index_rewriting import with_numbers
from kopt.passes.normalising.runs import load_block
from kopt.passes.normalising.select_of_loads import selected_loads


def normalise(access: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> None:
    """Puts blocks, and gathers of as few indices as there can be, in the place of a load at computed places."""
    for load in selected_loads(without_repeats(access, sums), sums):
        if load.gathers:
            normal(load, launch, arrays, sums)


def normal(load: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> LoadOp | None:
    """The gather that a load still is; None where it has become a block."""
    if (numbers := with_numbers(load)) is not None:
        load = with_entries(load, numbers)
    load = delinearised(load, launch, arrays, sums)
    if not _sees_writes(load, launch, sums.exact):
        _take_input(load, launch, arrays)
    found = load_block(load, sums)
    return found if found is not None and found.gathers else None


def _sees_writes(load: LoadOp, launch: LaunchOp, analysis: IndexAnalysis) -> bool:
    """Whether a load may see what its launch writes, or there is nothing else to see."""
    number = launch.body.block.args.index(load.memory)
    if number not in launch.written:
        return False
    return number >= len(launch.inputs) or bool(seen_writes(load, analysis))


def _take_input(load: LoadOp, launch: LaunchOp, arrays: Arrays) -> None:
    """Lets a load that sees no writes of its launch read an array that the launch only reads: the version before."""
    if launch.body.block.args.index(load.memory) in launch.written:
        load.operands[0] = arrays.again(load.memory)
