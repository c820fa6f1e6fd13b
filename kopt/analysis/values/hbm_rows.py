"""Rows and elements by a loaded number of arrays that do not fit a TPU's memory: gathers of one place. Pure."""

from __future__ import annotations

from math import prod
from typing import TypeGuard

from xdsl.dialects.builtin import IndexType, MemRefType, i32
from xdsl.ir import Operation, SSAValue

from kopt.analysis.layouts import fits_scalar_memory
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import ForOp, LoadOp, RangeType, WhileOp, array_type, tile_type
from kopt.dialects.tile.index_list import AllAttr, Entry, is_range
from kopt.ir.atoms import Element
from kopt.ir.from_ssa import IndexAnalysis
from kopt.targets.budget import Budget
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import LANES, register_bytes


def may_be_row(load: LoadOp, launch: LaunchOp, analysis: IndexAnalysis) -> bool:
    """Whether a load takes one row, or element, by numbers that nothing but memory tells: a gather of one place."""
    numbers = [entry for entry in load.entries if is_computed(entry)]
    written = launch.body.block.args.index(load.memory) in launch.written
    if written or all(analysis.expr(number).is_affine for number in numbers):
        return False
    scalar = not tile_type(load.result).rank
    return scalar or all(entry in numbers or isinstance(entry, AllAttr) for entry in _but_lanes(load.entries))


def is_far(load: LoadOp, launch: LaunchOp, chip: TpuChip, analysis: IndexAnalysis) -> bool:
    """Whether such a row is of an array that half of VMEM does not hold, or such an element of one that scalar memory
    does not hold either. So is a row by a lane of a tile, of an array of which a product would not take rows.

    What loops take so of rows is fetched a visit ahead, unless it is lanes that DMAs cannot move.
    """
    if not may_be_row(load, launch, analysis):
        return False
    if not tile_type(load.result).rank:
        words = MemRefType(i32, array_type(load.memory).get_shape())
        return not fits_scalar_memory(words) and not Budget(chip).holds_array(_element_bytes(load, analysis))
    if _in_loop(load) and _is_movable(load.entries[-1], array_type(load.memory).get_shape()[-1], analysis):
        return False
    size = 4 * prod(array_type(load.memory).get_shape())
    return not Budget(chip).holds_array(size) or size > Budget.TAKEN_FROM and _is_by_lane(load, analysis)


def _is_by_lane(load: LoadOp, analysis: IndexAnalysis) -> bool:
    """Whether a number of a load is a lane of a tile: it is known where that is, and no window follows it."""
    exprs = [analysis.expr(entry) for entry in load.entries if is_computed(entry)]
    return any(isinstance(atom, Element) for expr in exprs for atom in expr.atoms())


def _element_bytes(load: LoadOp, analysis: IndexAnalysis) -> int:
    """What VMEM would have to hold for a single element: those that one loaded number tells apart are a tile each."""
    shape = array_type(load.memory).get_shape()
    pairs = zip(load.entries, shape, strict=True)
    told = [extent for entry, extent in pairs if is_computed(entry) and not analysis.expr(entry).is_affine]
    return register_bytes((told[0], 1, 1), 32) if len(told) == 1 else 4 * prod(shape)


def _but_lanes(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """An index list without the block of lanes of a single row: blocks of several rows are moved as they are."""
    single = len(entries) > 1 and is_computed(entries[-2]) and is_range(entries[-1])
    return entries[:-1] if single else entries


def _is_movable(lanes: Entry, extent: int, analysis: IndexAnalysis) -> bool:
    """Whether DMAs move a block of lanes as it is: all of them, or whole rows of registers."""
    if not isinstance(lanes, SSAValue) or not isinstance(lanes.type, RangeType):
        return True
    size = lanes.type.size
    return size >= extent or size % LANES == 0 and analysis.begin(lanes).divisor % LANES == 0


def is_computed(entry: Entry) -> TypeGuard[SSAValue]:
    """Whether an entry is one number that the kernel computes."""
    return isinstance(entry, SSAValue) and isinstance(entry.type, IndexType)


def _in_loop(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, ForOp | WhileOp):
        parent = parent.parent_op()
    return parent is not None
