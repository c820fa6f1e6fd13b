"""Loads by computed indices that are blocks after all, or gathers of fewer indices: how an access is written."""

from __future__ import annotations

from xdsl.dialects.arith import IndexCastOp, SubiOp
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.store_to_load import seen_writes
from kopt.analysis.values.gathers import gathers
from kopt.dialects.builder import Builder
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import (
    ElementwiseOp,
    ExtractOp,
    FullOp,
    IndexOp,
    LoadOp,
    RangeType,
    ShiftOp,
    SplatOp,
    array_type,
    is_gather,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.broadcast_indices import without_repeats
from kopt.passes.gathers.contiguous_run import load_contiguous_run
from kopt.passes.gathers.delinearise import delinearised
from kopt.passes.gathers.picking import replace_load
from kopt.passes.gathers.select_of_loads import selected_loads
from kopt.passes.gathers.trailing_run import trailing_run_as_block
from kopt.passes.gathers.transposed_indices import with_ordered_indices
from kopt.passes.launch_arrays import Arrays
from kopt.passes.scatters.access import apart


def normalise(access: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> None:
    """Puts blocks, and gathers of as few indices as there can be, in the place of a load at computed places."""
    for load in selected_loads(without_repeats(access, sums), sums):
        if gathers(load):
            normal(load, launch, arrays, sums)


def normal(load: LoadOp, launch: LaunchOp, arrays: Arrays, sums: SumAnalysis) -> LoadOp | None:
    """The gather that a load still is; None where it has become a block."""
    load = trailing_run_as_block(as_blocks(delinearised(with_ordered_indices(load), launch, arrays, sums)), sums)
    if not _sees_writes(load, launch, sums.exact):
        _take_input(load, launch, arrays)
    if (value := load_contiguous_run(load, sums)) is not None:
        replace_load(load, value)
        return None
    return load if gathers(load) else None


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


def as_blocks(load: LoadOp) -> LoadOp:
    """The load with each index that is a range's lane numbers as that range, and each scalar as an ``index``."""
    entries = [_as_block(entry, load) for entry in _apart(load)]
    if all(before is after for before, after in zip(load.entries, entries, strict=True)):
        return load
    replacement = LoadOp(load.memory, entries, load.mask, load.other, load.pad, load.attributes)
    replacement.location = load.location
    replacement.result.name_hint = load.result.name_hint
    Rewriter.replace_op(load, replacement)
    return replacement


def _apart(load: LoadOp) -> list[Entry]:
    """The index list with the lane numbers of several indices as ranges, where the block has the same dimensions."""
    found = apart(load)
    same = block_dims(found, array_type(load.memory).get_shape()) == tile_type(load.result).dims.data
    return found if same else list(load.entries)


def _as_block(entry: Entry, load: LoadOp) -> Entry:
    if not isinstance(entry, SSAValue) or isinstance(entry.type, RangeType) or not is_gather(entry):
        return entry
    tiles = [o for o in load.entries if isinstance(o, SSAValue) and is_gather(o) and tile_type(o).rank]
    if len(tiles) == 1 and (range := counted_range(entry, load)) is not None:
        return range
    if tile_type(entry).rank:
        return entry
    return Builder(load).add(ExtractOp(entry, IndexType()))


def counted_range(entry: SSAValue, load: LoadOp) -> SSAValue | None:
    """The range whose lane numbers an index is, plus or minus one scalar for all lanes; else None."""
    op = entry.owner
    if isinstance(op, IndexOp):
        return op.range
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in ("add", "sub"):
        return None
    first, second = op.inputs
    if op.ROW.name == "add" and isinstance(second.owner, IndexOp):
        first, second = second, first
    if not isinstance(first.owner, IndexOp) or not isinstance(second.owner, SplatOp | FullOp):
        return None
    offset = _offset(second.owner, op.ROW.name == "sub", load)
    return Builder(load).add(ShiftOp(first.owner.range, offset), first.owner.range.name_hint)


def _offset(op: SplatOp | FullOp, negated: bool, load: LoadOp) -> SSAValue:
    """The number in every lane of a tile as an ``index``."""
    build = Builder(load)
    if isinstance(op, FullOp):
        return build.index(-int(op.number) if negated else int(op.number))
    scalar = op.scalar
    if not isinstance(scalar.type, IndexType):
        scalar = build.add(IndexCastOp(scalar, IndexType()))
    return build.add(SubiOp(build.index(0), scalar)) if negated else scalar
