"""Which arrays a loop of schedule ``pipeline`` may stream, and by which blocks.

Pure. An array stays in HBM where every access of it moves with a pipelined loop: its innermost one does, in blocks
that begin at multiples of their size. The block's number is a sum over the loop's own number and what is known
outside the loop. What inner loops walk is a whole dimension of the block, as it is of a window of the grid.

| in the array's dimension | the pipeline's block |
|---|---|
| a range bound by the loop or around it | its lanes |
| a number, an ``index`` from outside | one element, squeezed away |
| ``:``, a slice, a range or number from inside | the whole dimension |
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.aliases import users
from kopt.analysis.coverage import stays_inside
from kopt.analysis.layouts import Layout, LayoutProblem, layout
from kopt.analysis.scope import ancestors
from kopt.analysis.streaming import Schedules, loops_around, written_schedule
from kopt.analysis.windows import Dim, Window, joined, walked
from kopt.dialects.tile import ForOp, LoadOp, RangeType, StoreOp, TileType
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr, is_range
from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.division import floordiv
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import ZERO, IndexExpr
from kopt.ir.ranges import binding, unshifted, walked_range
from kopt.open_extents import padded


class NotPipelined(Exception):
    """Why an array cannot be streamed; the message ends a sentence that begins with its name."""


@dataclass(frozen=True)
class PipelinedAccess:
    """One access that a pipelined loop serves: the dimensions of its block, and the block's number in each.

    Numbers are sums of block numbers and values that there are.
    """

    access: LoadOp | StoreOp
    loop: ForOp
    dims: tuple[Dim, ...]
    numbers: tuple[IndexExpr, ...]


@dataclass(frozen=True)
class Pipelined:
    """An array that stays in HBM: how it stands there, how its blocks stand on the chip, and its accesses."""

    array: Layout
    layout: Layout
    walks: tuple[PipelinedAccess, ...]


def is_pipelined(loop: ForOp, schedules: Schedules = written_schedule) -> bool:
    """Whether a loop's schedule is ``emit_pipeline``."""
    return schedules(loop) == "emit_pipeline"


def pipelined(window: Window, schedules: Schedules = written_schedule) -> Pipelined | None:
    """How an array is streamed, or None where it is not."""
    try:
        return plan_pipelined(window, schedules)
    except NotPipelined:
        return None


def plan_pipelined(window: Window, schedules: Schedules = written_schedule) -> Pipelined:
    """How an array is streamed. Raises `NotPipelined` with the reason where it cannot be."""
    _check_users(window)
    shape = window.type.get_shape()
    walks = tuple(_walk(access, shape, schedules, window.sums) for access in (*window.loads, *window.stores))
    _check_stores(window, walks)
    columns = zip(*(walk.dims for walk in walks), strict=True)
    dims = [_same(column, extent) for column, extent in zip(columns, shape, strict=True)]
    if all(dim.kind == "point" for dim in dims):
        raise NotPipelined("is read element by element")
    try:
        plan = layout(replace(window, dims=tuple(dims)))
    except LayoutProblem as problem:
        raise NotPipelined(f"has no layout for its blocks: {problem}") from None
    return Pipelined(_padded(plan), plan, walks)


def _walk(access: LoadOp | StoreOp, shape: Sequence[int], schedules: Schedules, sums: IndexAnalysis) -> PipelinedAccess:
    """The access as the innermost pipelined loop that it moves with sees it."""
    loops = [loop for loop in loops_around(access) if is_pipelined(loop, schedules)]
    for loop in loops:
        pairs = [_dim(entry, extent, loop, sums) for entry, extent in zip(access.entries, shape, strict=True)]
        numbers = tuple(found for _, found in pairs)
        if any(found.counts(loop.range) for found in numbers):
            walk = PipelinedAccess(access, loop, tuple(dim for dim, _ in pairs), numbers)
            _check_reach(walk)
            return walk
    if not loops:
        raise NotPipelined("is accessed outside of pipelined loops too")
    raise NotPipelined("is accessed at places that do not move with the loop by whole blocks")


# Dimensions.


def _dim(entry: Entry, extent: int, loop: ForOp, sums: IndexAnalysis) -> tuple[Dim, IndexExpr]:
    """The pipeline's block in one dimension, and its number."""
    if isinstance(entry, AllAttr | SliceAttr):
        return Dim("whole", extent, plain=True), ZERO
    if isinstance(entry, int):
        return Dim("point", 1), IndexExpr(entry)
    if isinstance(entry.type, TileType):
        raise NotPipelined("is accessed at computed places")
    if isinstance(entry.type, RangeType):
        return _range(entry, extent, loop, sums)
    form = sums.expr(entry)
    if _is_known(form, loop):
        return Dim("point", 1), form
    return Dim("whole", extent, walk=max(1, form.divisor), step=1, dynamic=True), ZERO


def _range(entry: SSAValue, extent: int, loop: ForOp, sums: IndexAnalysis) -> tuple[Dim, IndexExpr]:
    outer, first = _walked_block(entry, loop, sums), sums.begin(entry)
    range, start = (unshifted(entry), first) if outer is None else (outer, sums.begin(outer))
    lanes = binding(range).size
    number = floordiv(start, lanes)
    if _is_known(start, loop) and start.divisor % lanes == 0 and number.terms.keys() <= start.terms.keys():
        return Dim("block", lanes, range=range, last=_largest(number) or 0), number
    return walked(first, binding(entry).size, extent), ZERO


def _walked_block(entry: SSAValue, loop: ForOp, sums: IndexAnalysis) -> SSAValue | None:
    """The range of which an inner loop's range walks one block, in parts that divide it."""
    bound = binding(entry)
    outer = walked_range(bound)
    if outer is None or bound.owner is loop or unshifted(entry) is not entry or not _is_known(sums.begin(outer), loop):
        return None
    divides = sums.expr(bound.lower) == sums.begin(outer) and binding(outer).size % bound.size == 0
    return outer if divides and loop in ancestors(bound.owner.parent_op()) else None


def names(form: IndexExpr) -> tuple[SSAValue, ...]:
    """The ranges and values that a sum is made of."""
    return tuple(map(name_of, form.terms))


def name_of(atom: Atom) -> SSAValue:
    """The range whose blocks an atom of a sum numbers, or the value that it is."""
    assert isinstance(atom, BlockNumber | Symbol) and isinstance(atom.name, SSAValue)
    return atom.name


def _is_known(form: IndexExpr, loop: ForOp) -> bool:
    """Whether a sum is over the loop's number and values from outside the loop."""
    return not any(name is not loop.range and _is_inside(name, loop) for name in names(form))


def _is_inside(value: SSAValue, loop: ForOp) -> bool:
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    return parent is loop or parent is not None and loop in ancestors(parent.parent_op())


def _largest(number: IndexExpr) -> int | None:
    """The largest value of a block's number, where all that it depends on is bounded by numbers."""
    is_bounded = number.is_affine and all(binding(name).trips is not None for name in names(number))
    return number.range.high if is_bounded else None


def _same(dims: Sequence[Dim], extent: int) -> Dim:
    """The dimension that all accesses have."""
    if all(dim.kind == "whole" for dim in dims):
        return joined(dims, extent)
    if len({(dim.kind, dim.size) for dim in dims}) > 1:
        raise NotPipelined("is accessed in blocks of several sizes")
    return replace(dims[0], last=max(dim.last for dim in dims))


def _padded(plan: Layout) -> Layout:
    """The array with no part of a block beyond its end: DMAs move whole blocks."""
    shape = list(plan.padded)
    for part, lanes in zip(plan.parts, plan.blocks, strict=True):
        if part.kind == "all" and lanes:
            shape[part.dim] = padded(shape[part.dim], lanes)
    changed = plan if tuple(shape) == plan.padded else replace(plan, padded=tuple(shape), reason=_reason(plan))
    return replace(changed, blocks=changed.shape)


def _reason(plan: Layout) -> str:
    return "; ".join([*filter(None, [plan.reason]), "blocks that DMAs move whole"])


# What must hold.


def _check_users(window: Window) -> None:
    """That nothing but loads and stores touches the array: no atomic updates, whose order counts."""
    for op in users(window.memory):
        if not isinstance(op, LoadOp | StoreOp):
            raise NotPipelined(f"is accessed by '{op.name}'")


def _check_reach(walk: PipelinedAccess) -> None:
    """That no block lies before the array, and none is fetched that a condition or a mask keeps from being read."""
    for number in walk.numbers:
        if not number.range.is_natural and any(factor < 0 for factor in (number.const, *number.terms.values())):  # pyright: ignore
            raise NotPipelined("is accessed in blocks that may begin before it")
    guarded = any(not isinstance(op, ForOp) for op in _between(walk.access, walk.loop)) or walk.access.mask is not None
    if guarded and any(_largest(number) is None for number in walk.numbers):
        raise NotPipelined("is accessed under a condition, in blocks that may lie beyond it")


def _between(op: Operation, loop: ForOp) -> Iterator[Operation]:
    for parent in ancestors(op.parent_op()):
        if parent is loop:
            return
        yield parent


def _check_stores(window: Window, walks: Sequence[PipelinedAccess]) -> None:
    """That each visit writes one whole block, which nothing else reads or writes meanwhile."""
    if not window.stores:
        return
    for walk in walks:
        _check_store(walk, window)
        for other in walks:
            if other.loop is walk.loop and (other.numbers, other.dims) != (walk.numbers, walk.dims):
                raise NotPipelined("is written while another of its blocks is on the chip")
            if other.loop in ancestors(walk.loop.parent_op()):
                raise NotPipelined("is written by a loop inside one that it is streamed by")
    _check_order(walks)


def _check_store(walk: PipelinedAccess, window: Window) -> None:
    if not isinstance(walk.access, StoreOp):
        return
    if walk.access.parent_op() is not walk.loop or walk.access.mask is not None:
        raise NotPipelined("is written under a condition or a mask, or by an inner loop")
    for entry, extent in zip(walk.access.entries, window.type.get_shape(), strict=True):
        if isinstance(entry, SliceAttr) or is_range(entry) and not stays_inside(entry, extent, window.analysis):
            raise NotPipelined("keeps some elements of the blocks that are written")


def _check_order(walks: Sequence[PipelinedAccess]) -> None:
    """That a visit reads before it writes."""
    for loop in {walk.loop for walk in walks}:
        accesses = {walk.access for walk in walks if walk.loop is loop}
        written = False
        for op in loop.walk():
            if op in accesses and isinstance(op, LoadOp) and written:
                raise NotPipelined("is read after it is written, in the same visit")
            written = written or op in accesses and isinstance(op, StoreOp)
