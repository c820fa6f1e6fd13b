"""Accesses whose indices count lanes from scalars on, ``x[n + arange(64)]``: those of the block that begins there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.alignment import multiple
from kopt.analysis.index_bounds import index_bounds
from kopt.analysis.linear import Linear, begin, linear
from kopt.analysis.ranges import unshifted
from kopt.analysis.validity import ValidityBuilder
from kopt.dialects.tile import (
    ELEMENTWISE,
    LoadOp,
    RangeType,
    ShiftOp,
    StoreOp,
    WholeOp,
)
from kopt.dialects.tile.index_list import Entry, block_dims, is_range
from kopt.passes.gathers.building import array_type
from kopt.passes.gathers.merged import runs
from kopt.passes.gathers.touching import touching
from kopt.passes.mosaic.building import Builder, type_of


def load_counted(load: LoadOp) -> SSAValue | None:
    """The block of a load, without its mask, where its indices count from scalars on; None where one does not.

    A masked load may begin before the array; where nothing will cut its lanes out of a larger block, it stays as it is.
    """
    build = Builder(load)
    blocks = _blocks(load, build)
    entries = [blocks.get(position, entry) for position, entry in enumerate(load.entries)]
    for position, block in blocks.items():
        first = begin(block) if is_range(block) else linear(block)
        aligned = first.divisor % multiple(array_type(load.memory), position) == 0
        if load.mask is not None and _may_be_negative(first) and aligned:
            _forget(blocks.values())
            return None
    if not blocks:
        return None
    found = _loaded(load, entries) or build.add(LoadOp(load.memory, entries))
    return build.reshape(found, type_of(load.result).dims.data)


def _loaded(load: LoadOp, entries: Sequence[Entry]) -> SSAValue | None:
    """The same block of an array that is only read, where it has been loaded just before."""
    users = [use.operation for use in load.memory.uses]
    if not all(isinstance(op, LoadOp) for op in users):
        return None
    for op in users:
        before = op.parent is load.parent and op is not load and op.is_before_in_block(load)
        if before and isinstance(op, LoadOp) and op.mask is None and all(map(_is_same, op.entries, entries)):
            return op.result
    return None


def _is_same(entry: Entry, other: Entry) -> bool:
    """Whether two entries are the same, but for the tags of blocks that have no loop of their own."""
    blocks = all(isinstance(e, SSAValue) and isinstance(unshifted(e).owner, WholeOp) for e in (entry, other))
    if entry == other or not blocks:
        return entry == other
    sizes = {e.type.size for e in (entry, other)}  # pyright: ignore
    return len(sizes) == 1 and begin(entry) == begin(other)  # pyright: ignore


def _forget(blocks: Iterable[SSAValue]) -> None:
    """Erases blocks that nothing will load."""
    for shift in [block.owner for block in blocks if block.first_use is None]:
        if isinstance(shift, ShiftOp):
            whole = shift.range.owner
            Rewriter.erase_op(shift)
            if isinstance(whole, WholeOp) and whole.result.first_use is None:
                Rewriter.erase_op(whole)


def counts(access: LoadOp | StoreOp) -> bool:
    """Whether the gathering indices of an access count lanes from scalars on."""
    return bool(runs(access))


def store_counted(store: StoreOp) -> None:
    """Makes a store whose indices count from scalars on one of the block that begins there."""
    build = Builder(store)
    blocks = _blocks(store, build)
    entries = [blocks.get(position, entry) for position, entry in enumerate(store.entries)]
    dims = block_dims(entries, array_type(store.memory).get_shape())
    value = build.reshape(store.value, dims)
    mask = store.mask and build.reshape(store.mask, dims)
    valid = ValidityBuilder(InsertPoint.before(store)).of(value)
    if valid is not None:
        mask = valid if mask is None else build.add(ELEMENTWISE["and"](mask, valid))
    block = StoreOp(value, store.memory, entries, mask, store.attributes)
    block.location = store.location
    Rewriter.replace_op(store, block, [])


def _blocks(access: LoadOp | StoreOp, build: Builder) -> dict[int, SSAValue]:
    """The block, or the one row, that each gathering index is; nothing where one is none."""
    return touching({position: run.entry(access, build) for position, run in runs(access).items()}, access, build)


def _may_be_negative(form: Linear) -> bool:
    """Whether an element's number is not a sum of numbers that are 0 at least, none of them subtracted."""
    return form.const < 0 or any(factor < 0 or not _is_natural(symbol) for symbol, factor in form.terms)


def _is_natural(symbol: SSAValue) -> bool:
    bounds = (0, 0) if isinstance(symbol.type, RangeType) else index_bounds(symbol)
    return bounds is not None and bounds[0] >= 0
