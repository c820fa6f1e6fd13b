"""Gathers of what another access has on the chip: ``logits[i, labels[i]]`` beside ``logits[i, :]``. Pure.

An access holds a block at a place where the same block could be loaded: it is in a block of operations around the
place, and what its index list names is known there. A lane of a gather lies in that block where each of
its numbers, less the one that the block begins at, is

| along | number |
|---|---|
| dimensions that go together | the lane of the gather's own dimension, the same as the block's |
| single elements | 0 |
| one dimension, that lanes are picked along | from 0 to below the block's size: by its range, or for all is there |

Numbers that do not address the array are refused before a call, so a dimension that the block has whole holds any.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp, LoadOp, tile_type
from kopt.ir.access_relation import AccessRelation, Step
from kopt.ir.from_access import relation_of
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, lane
from kopt.ir.value_range import ValueRange


@dataclass(frozen=True)
class HeldBlock:
    """The block that ``holder`` loads, and the dimension of its array that lanes are picked along.

    ``dim`` is that of the block; ``spread`` says whether it becomes one of the gather's dimensions, or disappears.
    """

    holder: LoadOp
    position: int
    dim: int
    spread: bool


def held_block(gather: LoadOp, launch: LaunchOp, among: Collection[LoadOp] | None = None) -> HeldBlock | None:
    """The block of another access that has all lanes of a gather, or None; of arrays that the launch only reads.

    ``among`` are the accesses that are asked, all if it is None.
    """
    if launch.body.block.args.index(gather.memory) in launch.written:
        return None
    analysis = IndexAnalysis()
    wanted = relation_of(gather, analysis)
    for holder in _holders(gather, launch):
        if among is not None and holder not in among:
            continue
        found = _lies_in(wanted, relation_of(holder, analysis))
        if found is not None and _goes_together(gather, holder, found[1], found[2]):
            return HeldBlock(holder, *found)
    return None


def _holders(gather: LoadOp, launch: LaunchOp) -> Iterator[LoadOp]:
    """The loads of ordinary blocks of the same array that may stand at a gather's place as well."""
    args = launch.body.block.args
    taken: dict[SSAValue, SSAValue] = dict(zip(args, launch.inputs, strict=False))
    same = [arg for arg in args if taken.get(arg) is taken[gather.memory]]
    only_read = [arg for arg in same if args.index(arg) not in launch.written]
    for op in [use.operation for arg in only_read for use in arg.uses]:
        if not isinstance(op, LoadOp) or op is gather or op.mask is not None or op.gathers:
            continue
        if may_stand_at(op, gather):
            yield op


def may_stand_at(holder: LoadOp, gather: LoadOp) -> bool:
    """Whether the block of a load could be loaded at a gather's place as well."""
    block = holder.parent
    return block is not None and _is_around(block, gather) and all(_known(value, gather) for value in holder.indices)


def _is_around(block: Block, op: Operation) -> bool:
    return _ancestor_in(block, op) is not None


def _ancestor_in(block: Block, op: Operation) -> Operation | None:
    """The operation of a block that an operation is, or is inside of."""
    inner: Operation | None = op
    while inner is not None and inner.parent is not block:
        inner = None if isinstance(inner, GridOp) else inner.parent_op()
    return inner


def _known(value: SSAValue, at: Operation) -> bool:
    """Whether a value is computed before an operation."""
    owner = value.owner
    if isinstance(owner, Block):
        return _is_around(owner, at)
    around = None if owner.parent is None else _ancestor_in(owner.parent, at)
    return around is not None and owner is not around and owner.is_before_in_block(around)


def _lies_in(wanted: AccessRelation, held: AccessRelation) -> tuple[int, int, bool] | None:
    """The array's dimension that lanes are picked along, the block's, and whether the gather has one for it."""
    if held.box is None or wanted.shape != held.shape:
        return None
    picked, aligned = [], []
    for position, (index, step) in enumerate(zip(wanted.indices, held.box, strict=True)):
        offset = index - step.start
        if step.dim is None:
            if offset.number != 0:
                return None
            continue
        own = next((n for n, lanes in enumerate(wanted.lanes) if lanes != 1 and offset == lane(n, lanes)), None)
        if own is not None and step.step == 1 and step.lanes == wanted.lanes[own]:
            aligned.append((step.dim, own))
        elif step.step == 1 and _is_inside(offset, step, wanted.shape[position]):
            picked.append((position, step.dim))
        else:
            return None
    if len(picked) != 1:
        return None
    dim, spread = picked[0][1], len(wanted.lanes) == len(held.lanes)
    if any(own != place - (place > dim and not spread) for place, own in aligned):
        return None
    return picked[0][0], dim, spread


def _is_inside(offset: IndexExpr, step: Step, extent: object) -> bool:
    """Whether numbers of elements are known to lie among a block's."""
    if step.start.number == 0 and step.lanes == extent:
        return True
    return isinstance(step.lanes, int) and ValueRange(0, step.lanes - 1).covers(offset.range)


def _goes_together(gather: LoadOp, holder: LoadOp, dim: int, spread: bool) -> bool:
    """Whether the gather's dimensions are the block's in their order, but for the one that is picked along."""
    block, result = tile_type(holder.result), tile_type(gather.result)
    kept = _without(block.dims.data, dim)
    return kept == (_without(result.dims.data, dim) if spread else tuple(result.dims.data))


def _without(dims: Sequence, dim: int) -> tuple:
    return (*dims[:dim], *dims[dim + 1 :])
