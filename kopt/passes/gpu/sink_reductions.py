"""The pass ``sink-reductions``: lanes are combined visit by visit, and reduced once, after the loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.combiners import KINDS
from kopt.dialects import tile
from kopt.dialects.builder import Builder
from kopt.dialects.canonicalization.elementwise import constant
from kopt.ir.ranges import ranges_in_scope
from kopt.passes.meaning import REASSOCIATES
from kopt.walk import walk

#: Bytes of lanes that a loop may carry in this way: 16 registers of each thread of a program of 1,024.
_CARRIED_BYTES = 64 << 10


@dataclass(frozen=True)
class SinkReductionsPass(ModulePass):
    """Moves reductions out of loops that only combine their results.

    Threads then wait for one another once, and not in each visit. Sums of floats are added in another order.

        %r = tile.for %k: b1=8192 in (0, %n) iter(%a = %start) { %s = tile.reduce add %x [0]  … yield tile.add %a, %s }
    becomes
        %p = tile.for %k: b1=8192 in (0, %n) iter(%l = tile.full 0.0) { … yield tile.add %l, %x }
        %r = tile.add %start, (tile.reduce add %p [0])

    It leaves alone loops with products, whose operands need the registers, and lanes of more than 64 KiB. It never
    refuses.
    """

    name = "sink-reductions"
    meaning = REASSOCIATES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            for loop in reversed(walk(grid, tile.ForOp)):  # those inside of others first: they leave sums of lanes
                if not walk(loop, tile.DotOp):
                    _sink(loop)


@dataclass(frozen=True)
class _Sum:
    """The carried value ``number`` of a loop, which only combines what a reduction gives.

    ``reshaped`` is the op between the two where there is one.
    """

    number: int
    combined: tile.ElementwiseOp
    reduction: tile.ReduceOp
    reshaped: tile.ReshapeOp | None

    @property
    def bytes(self) -> int:
        """What its lanes take."""
        type = tile.tile_type(self.reduction.input)
        assert isinstance(type.element_type, FixedBitwidthType)
        return prod(type.shape) * type.element_type.bitwidth // 8


def _sink(loop: tile.ForOp) -> None:
    """Moves the reductions of a loop behind it, as many as fit, the first ones first."""
    sums, taken = [], 0
    for one in _sums(loop):
        if taken + one.bytes <= _CARRIED_BYTES:
            sums.append(one)
            taken += one.bytes
    if sums:
        _replace(loop, sums)


def _sums(loop: tile.ForOp) -> Iterator[_Sum]:
    for number, (carried, yielded) in enumerate(zip(loop.carried, loop.yielded, strict=True)):
        combined = yielded.owner
        if not isinstance(combined, tile.ElementwiseOp) or type(combined) not in KINDS:
            continue
        others = [value for value in combined.operands if value is not carried]
        if len(others) != 1 or not all(value.has_one_use() for value in (carried, yielded, *others)):
            continue
        reshaped = others[0].owner if isinstance(others[0].owner, tile.ReshapeOp) else None
        source = others[0] if reshaped is None else reshaped.input
        reduction = source.owner
        if (
            isinstance(reduction, tile.ReduceOp)
            and source.has_one_use()
            and reduction.kind.data == KINDS[type(combined)]
            and all(op is None or op.parent is loop.body.block for op in (combined, reshaped, reduction))
        ):
            yield _Sum(number, combined, reduction, reshaped)


def _replace(loop: tile.ForOp, sums: list[_Sum]) -> None:
    before, bound = Builder(loop), ranges_in_scope(loop)
    inits, starts = list(loop.inits), {one.number: loop.inits[one.number] for one in sums}
    for one in sums:
        lanes = tile.tile_type(one.reduction.input)
        # A loop's range is bound in its body alone.
        dims = [dim if dim.tag.data in bound else dim.size.data for dim in lanes.dims.data]
        start = tile.neutral(one.reduction.kind.data, lanes.element_type)
        inits[one.number] = before.add(tile.FullOp(start, lanes.with_dims(dims)))
    lower, upper = loop.bounds
    old = list(loop.results)
    new = tile.ForOp(lower, upper, inits, loop.detach_region(loop.body), loop.schedule, loop.attributes)
    before.insert(new)
    for one in sums:
        carried = Rewriter.replace_value_with_new_type(new.carried[one.number], inits[one.number].type)
        lanes = _combine_lanes(one, carried)
        for value in (carried, lanes, new.results[one.number]):
            value.name_hint = _lanes_of(old[one.number])
    after = InsertPoint.after(new)
    for number, (was, result) in enumerate(zip(old, new.results, strict=True)):
        one = next((one for one in sums if one.number == number), None)
        value = result if one is None else _reduced(Builder(after, one.reduction.location), one, result, starts[number])
        value.name_hint = was.name_hint
        was.replace_all_uses_with(value)
    Rewriter.erase_op(loop)


def _lanes_of(total: SSAValue) -> str | None:
    """What the lanes are called that give a value of some name."""
    return total.name_hint and f"{total.name_hint}_lanes"


def _combine_lanes(one: _Sum, carried: SSAValue) -> SSAValue:
    """Combines the lanes of a visit with those before, in the place of what they are reduced to."""
    build = Builder(one.combined)
    visit = build.reshape(one.reduction.input, tile.tile_type(carried).dims.data)
    lanes = build.add(type(one.combined)(carried, visit))
    one.combined.result.replace_all_uses_with(lanes)
    for op in filter(None, (one.combined, one.reshaped, one.reduction)):
        Rewriter.erase_op(op)
    return lanes


def _reduced(build: Builder, one: _Sum, lanes: SSAValue, start: SSAValue) -> SSAValue:
    """What a loop gave before, of the lanes that it gives now."""
    kind = one.reduction.kind.data
    found = build.add(tile.ReduceOp(kind, lanes, one.reduction.dimensions))
    if one.reshaped is not None:
        found = build.reshape(found, one.reshaped.result_type.dims.data)
    if constant(start) == tile.neutral(kind, tile.element_of(start)):
        return found
    return build.compute(tile.COMBINING_OPS[kind], start, found)
