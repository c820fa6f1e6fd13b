"""Gathers of what another access has on the chip become picks from its block."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IndexType, i32
from xdsl.ir import SSAValue

from kopt.analysis.held_blocks import HeldBlock, held_block
from kopt.analysis.layouts import fits_scalar_memory
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import DimAttr, LoadOp, SplatOp, TakeAlongOp, TileType, is_gather
from kopt.dialects.tile.index_list import is_range
from kopt.dialects.tile.values import is_float
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO
from kopt.ir.to_ssa import IndexWriter
from kopt.passes.gathers.building import array_type, element_bits, replace_load, type_of
from kopt.passes.gathers.indices import as_index
from kopt.passes.replacing import replacing
from kopt.passes.scatters.building import Builder
from kopt.targets.budget import Budget


def pick_from_held(load: LoadOp, launch: LaunchOp) -> bool:
    """Puts picks from the block of another access in a gather's place; whether it has.

        %r = tile.load %x[%i, :] : memref<300x1000xf32> -> !tile.tile<b0=64 x 1000 x f32>
        %v = tile.load %x[tile.index %i, %n] : memref<300x1000xf32> -> !tile.tile<b0=64 x f32>
    becomes
        %b = tile.load %x[%i, :] …   %w = tile.reshape %n …   %v = tile.take_along %b, %w dim 1 …

    The block is loaded once: the two loads are one to ``cse``, and share a buffer where they are not.
    """
    held = held_block(load, launch) if _is_wanted(load) else None
    if held is None or not _pays(load, held):
        return False
    build = Builder(load)
    index = _place(load, held, build)
    if index is None:
        return False
    block = build.named("held", replacing(load, LoadOp(held.holder.memory, held.holder.entries)))
    dims, wanted = [*type_of(block).dims.data], type_of(load.result).dims.data
    most = dims[held.dim].size.data - 1
    index = build.with_number("maximum", build.with_number("minimum", index, most), 0)
    dims[held.dim] = wanted[held.dim] if held.spread else DimAttr(1)
    picked = build.add(TakeAlongOp(block, build.reshape(index, dims), held.dim))
    replace_load(load, build.reshape(picked, wanted))
    return True


def _is_wanted(load: LoadOp) -> bool:
    """Whether a load takes elements at numbers that only memory tells, and is no scalar of scalar memory."""
    if element_bits(load.memory) > 32:
        return False
    if any(map(is_gather, load.entries)):
        return True
    type = array_type(load.memory)
    computed = any(not IndexAnalysis().expr(n).is_affine for n in load.indices if isinstance(n.type, IndexType))
    return computed and not type_of(load.result).rank and is_float(type.element_type) and not fits_scalar_memory(type)


def _pays(load: LoadOp, held: HeldBlock) -> bool:
    """Whether what is compared is as much as the block itself, or little: each lane with all that it may be."""
    block = type_of(held.holder.result).shape
    lanes = type_of(load.result).shape[held.dim] if held.spread else 1
    return lanes == 1 or lanes * prod(block) <= Budget.PICKED_FROM


def _place(load: LoadOp, held: HeldBlock, build: Builder) -> SSAValue | None:
    """Where in the block each lane of a gather lies, as an i32 tile; None where that cannot be written."""
    entry, begin = load.entries[held.position], held.holder.entries[held.position]
    sums = IndexAnalysis(sums=True)
    start = sums.begin(begin) if isinstance(begin, SSAValue) and is_range(begin) else ZERO
    if not isinstance(entry, SSAValue) or is_range(entry) or not IndexWriter.can_write(start):
        return None
    type = type_of(load.result).with_element(i32)
    if not isinstance(entry.type, TileType):
        entry = build.add(SplatOp(entry, type))
    if type_of(entry).shape != type.shape:
        return None
    index = build.cast(entry, i32)
    if start == ZERO:
        return index
    first = IndexWriter(build.add, lambda value: as_index(value, build), sums.begin).value(start)
    return build.compute("sub", index, build.add(SplatOp(first, type_of(index))))
