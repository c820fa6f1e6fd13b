"""Accesses whose indices count lanes from scalars on, ``x[n + arange(64)]``: those of the block that begins there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.alignment import multiple
from kopt.analysis.linear import Linear, begin, linear
from kopt.analysis.validity import ValidityBuilder
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    FullOp,
    IndexOp,
    LoadOp,
    RangeType,
    ReshapeOp,
    ShiftOp,
    SplatOp,
    StoreOp,
    WholeOp,
    is_gather,
)
from kopt.dialects.tile.index_list import block_dims, is_range
from kopt.passes.gathers.building import array_type
from kopt.passes.gathers.indices import as_index
from kopt.passes.gathers.merged import runs
from kopt.passes.mosaic.building import Builder, type_of
from kopt.passes.retyping import all_lanes

#: A number or a value that is the same in every lane, and how often it is added.
Scalar = tuple[int | SSAValue, int]


def load_counted(load: LoadOp) -> SSAValue | None:
    """The block of a load, without its mask, where its indices count from scalars on; None where one does not.

    A masked load may begin before the array; where nothing will cut its lanes out of a larger block, it stays as it is.
    """
    found = _counted_entries(load)
    if len(found) == 1 and isinstance(next(iter(found.values()))[0].owner, IndexOp):
        return None
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
    value = build.add(LoadOp(load.memory, entries))
    return build.reshape(value, type_of(load.result).dims.data)


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
    return bool(_counted_entries(access) or runs(access))


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
    if found := _counted_entries(access):
        return {position: _block(lanes, scalars, access, build) for position, (lanes, scalars) in found.items()}
    return {position: run.entry(access, build) for position, run in runs(access).items()}


def _counted_entries(access: LoadOp | StoreOp) -> dict[int, tuple[SSAValue, list[Scalar]]]:
    """What each gathering index counts from; nothing where one does not.

    Several do so for one dimension of the block each, in order: ``x[n + arange(64)[:, None], k.index[None, :]]``.
    """
    positions = [position for position, entry in enumerate(access.entries) if is_gather(entry)]
    each = [counted(access.entries[position], axis) for axis, position in enumerate(positions)]
    rank = len(positions) and type_of(access.entries[positions[0]]).rank  # pyright: ignore
    if not rank or rank != len(positions) or positions != list(range(positions[0], positions[0] + rank)):
        return {}
    found = {position: one for position, one in zip(positions, each, strict=True) if one is not None}
    return found if len(found) == len(each) else {}


def counted(index: Any, axis: int) -> tuple[SSAValue, list[Scalar]] | None:
    """The lanes that an index numbers along one axis, and what is added to them; None where it does not."""
    source = along(index, axis)
    return None if source is None else _scalars(source)


def along(index: Any, axis: int) -> SSAValue | None:
    """The tile of one dimension that an index repeats along all axes but one; None where it repeats none."""
    while isinstance(op := index.owner, CastOp) or isinstance(op, BroadcastOp | ReshapeOp) and type_of(index).rank > 1:
        if isinstance(op, BroadcastOp):
            if axis not in op.mapping:
                return None
            axis = op.mapping.index(axis)
        if isinstance(op, ReshapeOp):
            kept = [n for n, extent in enumerate(type_of(index).shape) if extent != 1]
            if type_of(op.input).rank != 1 or kept != [axis]:
                return None
            axis = 0
        index = op.input
    return index if type_of(index).rank == 1 else None


def _block(lanes: SSAValue, scalars: list[Scalar], access: Operation, build: Builder) -> SSAValue:
    """The range of lanes from a sum on."""
    if isinstance(lanes.owner, IndexOp):
        return build.add(ShiftOp(lanes.owner.range, total(scalars, build))) if scalars else lanes.owner.range
    size = type_of(lanes).shape[0]
    whole = build.add(all_lanes(size, access))
    return build.add(ShiftOp(whole, total(scalars, build)))


def _scalars(index: SSAValue) -> tuple[SSAValue, list[Scalar]] | None:
    """The lane numbers 0, 1, 2, … or of a block, and what is added to them to give an index, else None."""
    op = index.owner
    if isinstance(op, CastOp):
        return _scalars(op.input)
    if isinstance(op, ArangeOp):
        return (index, [(op.start.data, 1)]) if op.step.data == 1 else None
    if isinstance(op, IndexOp):
        return index, []
    if not isinstance(op, ElementwiseOp) or op.ROW.name not in ("add", "sub"):
        return None
    first, second = op.inputs
    if op.ROW.name == "add" and _uniform(first) is not None:
        first, second = second, first
    found, scalar = _scalars(first), _uniform(second)
    if found is None or scalar is None:
        return None
    lanes, scalars = found
    return lanes, [*scalars, (scalar, 1 if op.ROW.name == "add" else -1)]


def _uniform(value: SSAValue) -> int | SSAValue | None:
    """The number, the scalar or the tile of rank 0 that every lane of a tile is, else None."""
    op = value.owner
    if isinstance(op, CastOp):
        return _uniform(op.input)
    if isinstance(op, FullOp):
        return int(op.number)
    if isinstance(op, SplatOp):
        return op.scalar
    if isinstance(op, BroadcastOp) and not op.mapping:
        inner = _uniform(op.input)
        return op.input if inner is None else inner
    return None


def total(scalars: list[Scalar], build: Builder) -> SSAValue:
    """The sum of some scalars, as an ``index``."""
    number = sum(value * sign for value, sign in scalars if isinstance(value, int))
    added = [as_index(value, build) for value, sign in scalars if isinstance(value, SSAValue) and sign > 0]
    total = build.index(number) if number or not added else added.pop(0)
    for part in added:
        total = build.add(arith.AddiOp(total, part))
    for value, sign in scalars:
        if isinstance(value, SSAValue) and sign < 0:
            total = build.add(arith.SubiOp(total, as_index(value, build)))
    return total


def _may_be_negative(form: Linear) -> bool:
    """Whether an element's number is not a sum of block numbers, none of them subtracted."""
    sums = all(isinstance(symbol.type, RangeType) and factor > 0 for symbol, factor in form.terms)
    return form.const < 0 or not sums
