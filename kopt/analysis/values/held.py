"""Which gathers are picked from a block that another access has on the chip. Pure."""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from kopt.analysis.held_blocks import HeldBlock, held_block
from kopt.analysis.layouts import fits_scalar_memory
from kopt.analysis.values.form import element_bits
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import LoadOp, TileType, array_type, tile_type
from kopt.dialects.tile.index_list import is_range
from kopt.dialects.tile.values import is_float
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.to_ssa import IndexWriter
from kopt.targets.budget import Budget


def picked(load: LoadOp, launch: LaunchOp, among: Collection[LoadOp] | None = None) -> HeldBlock | None:
    """The block of another access, one of ``among``, that a load's elements are picked from; None where there is none,
    or it is much."""
    held = held_block(load, launch, among) if _is_wanted(load) else None
    return held if held is not None and _pays(load, held) and _can_place(load, held) else None


def start_of(held: HeldBlock, sums: IndexAnalysis) -> IndexExpr:
    """Where the block begins in the dimension that lanes are picked along."""
    begin = held.holder.entries[held.position]
    return sums.begin(begin) if isinstance(begin, SSAValue) and is_range(begin) else ZERO


def _is_wanted(load: LoadOp) -> bool:
    """Whether a load takes elements at numbers that only memory tells, and is no scalar of scalar memory."""
    if element_bits(load.memory) > 32:
        return False
    if load.gathers:
        return True
    type = array_type(load.memory)
    computed = any(not IndexAnalysis().expr(n).is_affine for n in load.indices if isinstance(n.type, IndexType))
    scalar = not tile_type(load.result).rank and is_float(type.element_type)
    return computed and scalar and not fits_scalar_memory(type)


def _pays(load: LoadOp, held: HeldBlock) -> bool:
    """Whether what is compared is as much as the block itself, or little: each lane with all that it may be."""
    block = tile_type(held.holder.result).shape
    lanes = tile_type(load.result).shape[held.dim] if held.spread else 1
    return lanes == 1 or lanes * prod(block) <= Budget.PICKED_FROM


def _can_place(load: LoadOp, held: HeldBlock) -> bool:
    """Whether it can be written where in the block each lane lies."""
    entry = load.entries[held.position]
    if not isinstance(entry, SSAValue) or is_range(entry):
        return False
    same = not isinstance(entry.type, TileType) or entry.type.shape == tile_type(load.result).shape
    return same and IndexWriter.can_write(start_of(held, IndexAnalysis(sums=True)))
