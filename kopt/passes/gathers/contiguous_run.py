"""Contiguous runs: accesses whose indices count lanes from scalars on, ``x[n + arange(64)]``, are blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from kopt.analysis.aliases import users
from kopt.analysis.alignment import multiple
from kopt.analysis.validity import LaneValidity
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    ELEMENTWISE,
    LoadOp,
    ShiftOp,
    StoreOp,
    WholeOp,
    array_type,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry, block_dims
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.ranges import unshifted
from kopt.ir.sums import SumAnalysis
from kopt.passes.gathers.clamp_blocks import clamped_blocks
from kopt.passes.gathers.collapsed_dims import blocks
from kopt.passes.replacing import replacing


def load_contiguous_run(load: LoadOp, sums: SumAnalysis) -> SSAValue | None:
    """The block of a load, without its mask, where its indices count from scalars on; None where one does not.

    A masked load may begin before the array; where nothing will cut its lanes out of a larger block, it stays as it is.
    """
    build, analysis = Builder(load), sums.exact
    found = _blocks(load, build, sums)
    entries = [found.get(position, entry) for position, entry in enumerate(load.entries)]
    for position, block in found.items():
        first = analysis.first(block)
        aligned = first.divisor % multiple(array_type(load.memory), position) == 0
        if load.mask is not None and not first.range.is_natural and aligned:
            _forget(found.values())
            return None
    if not found:
        return None
    value = _loaded(load, entries, analysis) or build.add(replacing(load, LoadOp(load.memory, entries)))
    return build.reshape(value, tile_type(load.result).dims.data)


def _loaded(load: LoadOp, entries: Sequence[Entry], analysis: IndexAnalysis) -> SSAValue | None:
    """The same block of an array that is only read, where it has been loaded just before."""
    others = users(load.memory)
    if not all(isinstance(op, LoadOp) for op in others):
        return None
    for op in others:
        before = op.parent is load.parent and op is not load and op.is_before_in_block(load)
        if not before or not isinstance(op, LoadOp) or op.mask is not None:
            continue
        if all(_is_same(entry, other, analysis) for entry, other in zip(op.entries, entries, strict=True)):
            return op.result
    return None


def _is_same(entry: Entry, other: Entry, analysis: IndexAnalysis) -> bool:
    """Whether two entries are the same, but for the tags of blocks that have no loop of their own."""
    blocks = all(isinstance(e, SSAValue) and isinstance(unshifted(e).owner, WholeOp) for e in (entry, other))
    if entry == other or not blocks:
        return entry == other
    sizes = {e.type.size for e in (entry, other)}  # pyright: ignore
    return len(sizes) == 1 and analysis.begin(entry) == analysis.begin(other)  # pyright: ignore


def _forget(blocks: Iterable[SSAValue]) -> None:
    """Erases blocks that nothing will load."""
    for shift in [block.owner for block in blocks if block.first_use is None]:
        if isinstance(shift, ShiftOp):
            whole = shift.range.owner
            Rewriter.erase_op(shift)
            if isinstance(whole, WholeOp) and whole.result.first_use is None:
                Rewriter.erase_op(whole)


def is_contiguous_run(access: LoadOp | StoreOp, sums: SumAnalysis) -> bool:
    """Whether the gathering indices of an access count lanes from scalars on."""
    return bool(blocks(access, sums))


def store_contiguous_run(store: StoreOp, sums: SumAnalysis) -> None:
    """Makes a store whose indices count from scalars on one of the block that begins there."""
    build = Builder(store)
    found = _blocks(store, build, sums)
    entries = [found.get(position, entry) for position, entry in enumerate(store.entries)]
    dims = block_dims(entries, array_type(store.memory).get_shape())
    value = build.reshape(store.value, dims)
    mask = store.mask and build.reshape(store.mask, dims)
    valid = LaneValidity().of(value)
    if valid is not None:
        mask = valid if mask is None else build.add(ELEMENTWISE["and"](mask, valid))
    block = StoreOp(value, store.memory, entries, mask, store.attributes)
    block.location = store.location
    Rewriter.replace_op(store, block, [])


def _blocks(access: LoadOp | StoreOp, build: Builder, sums: SumAnalysis) -> dict[int, SSAValue]:
    """The block, or the one row, that each gathering index is; nothing where one is none."""
    entries = {position: block.entry(access, build, sums) for position, block in blocks(access, sums).items()}
    return clamped_blocks(entries, access, build, sums.exact)
