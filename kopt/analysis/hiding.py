"""Which values may have lanes made from lanes outside a range that their type no longer names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from kopt.analysis.effects import is_terminator
from kopt.analysis.lane_facts import jagged_loop, tiles
from kopt.analysis.regrouping import dropped_tags
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import (
    ConcatOp,
    DynamicSliceOp,
    ForOp,
    RangeType,
    ReshapeOp,
    ShiftOp,
    TakeAlongOp,
    WhileOp,
    tag_of,
    tile_type,
)
from kopt.ir.ranges import always_full
from kopt.walk import walk

#: Ops that carry values round or give those of several paths.
Carrier = ForOp | JaggedForOp | WhileOp | scf.IfOp


def hiding_values(top: Operation) -> set[SSAValue]:
    """The values of an op's regions that may hide invalid lanes; carried ones where any path's may."""
    droppers = walk(top, ReshapeOp, ConcatOp, TakeAlongOp, DynamicSliceOp)
    ragged = _ragged_tags(top) if droppers else set()
    dropping = {op for op in droppers if _drops(op, ragged)}
    if not dropping:
        return set()
    order = walk(top)
    hiding: set[SSAValue] = set()
    before = -1
    while len(hiding) != before:
        before = len(hiding)
        for op in order:
            if isinstance(op, Carrier):
                hiding.update(_carried(op, hiding))
            elif op in dropping or any(value in hiding for value in op.operands):
                hiding.update(tiles(op.results))
            if is_terminator(type(op)) and isinstance(around := op.parent_op(), Carrier):
                hiding.update(_carried(around, hiding))
    return hiding


def paths(op: Carrier, number: int) -> Iterator[SSAValue]:
    """The values that the result ``number`` of a carrier may be."""
    if not isinstance(op, scf.IfOp):
        yield op.inits[number]
    for region in op.regions:
        last = region.block.last_op if region.blocks else None
        if last is not None:
            yield last.operands[len(last.operands) - len(op.results) + number]


def _carried(op: Carrier, hiding: set[SSAValue]) -> Iterator[SSAValue]:
    for number, result in enumerate(op.results):
        if any(value in hiding for value in paths(op, number)):
            yield result
            if not isinstance(op, scf.IfOp):
                yield op.body.block.args[len(op.body.block.args) - len(op.results) + number]


def _ragged_tags(top: Operation) -> set[str]:
    """The tags of ranges whose last block may have fewer lanes."""
    tags: set[str] = set()
    for value in _ranges(top):
        if jagged_loop(value) is not None or not always_full(value):
            tags.add(tag_of(value))
    return tags


def _ranges(top: Operation) -> Iterable[SSAValue]:
    for op in walk(top):
        values = [*op.results, *(arg for region in op.regions for block in region.blocks for arg in block.args)]
        yield from (v for v in values if isinstance(v.type, RangeType) and not isinstance(v.owner, ShiftOp))


def _drops(op: ReshapeOp | ConcatOp | TakeAlongOp | DynamicSliceOp, ragged: set[str]) -> bool:
    """Whether an op gives lanes of a ragged block that the type of its result does not tell."""
    if isinstance(op, ReshapeOp):
        dropped = dropped_tags(op.input_type, op.result_type)
        return any(op.input_type.tags[dim] in ragged for dim in dropped)
    values = tiles(op.operands)[:1] if not isinstance(op, ConcatOp) else op.inputs
    return any(tile_type(value).tags[op.dim.data] in ragged for value in values)
