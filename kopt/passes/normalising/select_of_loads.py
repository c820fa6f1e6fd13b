"""A load of a select is a select of loads: ``x[where(i >= 0, i, 0)]`` chooses from what is at both.

Of a sum with a select in it, ``x[where(j > 31, rows * 128, 4000) + 3 * j]``, it is where less memory comes so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue

from kopt.analysis.values.places import GatherPlaces, cases_of
from kopt.analysis.values.repeats import dims_apart
from kopt.dialects.builder import Builder
from kopt.dialects.tile import (
    BroadcastOp,
    CastOp,
    ElementwiseOp,
    LoadOp,
    ReshapeOp,
    SelectOp,
    array_type,
    block_axes,
    element_of,
    is_gather,
    tile_type,
)
from kopt.ir.from_access import known_inside
from kopt.ir.index_runs import index_run
from kopt.ir.sums import SumAnalysis
from kopt.ir.to_tiles import TileWriter
from kopt.passes.access_building import replace_load
from kopt.passes.normalising.broadcast_indices import as_block_of, element, narrow
from kopt.passes.replacing import replacing

#: How a bound asks which of two numbers it is: the comparison that chooses the first.
_BOUNDS = {"maximum": "ge", "minimum": "le"}
_SPREADING = (BroadcastOp, ReshapeOp, CastOp)


@dataclass(frozen=True)
class _Choice:
    """An index that is ``on_true`` where the ``condition`` holds, else ``on_false``, before it is ``spread``."""

    condition: SSAValue
    on_true: SSAValue
    on_false: SSAValue
    spread: tuple[Operation, ...]


def selected_loads(load: LoadOp, sums: SumAnalysis) -> list[LoadOp]:
    """The loads that are chosen from lane by lane, where an index of a load is a choice; else the load alone.

    Of bounds that no lane inside its range reaches nothing is left.

        %n = tile.select %c, %i, %zeros    %v = tile.load %x[%n] : memref<4096xf32> -> !tile.tile<b0=128 x f32>
    becomes
        %a = tile.load %x[%i] mask %c …    %b = tile.load %x[0] …    %v = tile.select %c, %a, %spread_b
    """
    for position, entry in enumerate(load.entries):
        if is_gather(entry) and max(tile_type(entry).shape, default=1) > 1:
            if (choice := _choice(entry, Builder(load), sums)) is not None:
                return _split(load, position, choice, sums)
    return [load]


def _choice(index: SSAValue, build: Builder, sums: SumAnalysis) -> _Choice | None:
    """The choice that an index is, of numbers that count and single ones."""
    spread: list[Operation] = []
    while isinstance(index.owner, _SPREADING):
        spread.insert(0, index.owner)
        index = index.owner.operands[0]
    op = index.owner
    if isinstance(op, SelectOp):
        arms = (op.on_true, op.on_false)
    elif isinstance(op, ElementwiseOp) and op.ROW.name in _BOUNDS:
        arms = (op.inputs[0], op.inputs[1])
    else:
        return None
    if not all(_is_known(arm, sums) for arm in arms):
        return None
    condition = op.condition if isinstance(op, SelectOp) else build.compute(_BOUNDS[op.ROW.name], *arms)
    return _Choice(condition, *arms, tuple(spread))


def _is_known(index: SSAValue, sums: SumAnalysis) -> bool:
    """Whether an index is a number, or counts by ones, for which a block may stand, or has a bound and is such else."""
    if isinstance(index.owner, ElementwiseOp) and index.owner.ROW.name in _BOUNDS:
        return all(_is_known(inner, sums) for inner in index.owner.inputs)
    run = index_run(sums.expr(index), tile_type(index).shape)
    return run is not None and run.step == 1 and len(run.dims) <= 1


def _split(load: LoadOp, position: int, choice: _Choice, sums: SumAnalysis) -> list[LoadOp]:
    build, known = Builder(load), known_inside(choice.condition, load, sums.exact)
    if known is not None:
        arm = _Arm(load, position, choice.on_true if known else choice.on_false, choice.spread, build, sums)
        replace_load(load, arm.value)
        return selected_loads(arm.load, sums)
    condition = _to_block(load, _spread(choice.condition, choice.spread, build), build)
    first = _Arm(load, position, choice.on_true, choice.spread, build, sums, condition)
    if _is_only_used_where(condition, load, sums):
        replace_load(load, first.value)
        return selected_loads(first.load, sums)
    rest = build.compute("not", condition)
    second = _Arm(load, position, choice.on_false, choice.spread, build, sums, rest)
    replace_load(load, build.select(condition, first.value, second.value))
    return [*selected_loads(first.load, sums), *selected_loads(second.load, sums)]


class _Arm:
    """The load of one of both numbers, and its block with the dimensions of the old load's."""

    def __init__(
        self,
        load: LoadOp,
        position: int,
        index: SSAValue,
        spread: Sequence[Operation],
        build: Builder,
        sums: SumAnalysis,
        needed: SSAValue | None = None,
    ):
        form, entries = sums.expr(index), list(load.entries)
        shape = array_type(load.memory).get_shape()
        # Lanes of other indices that a mask leaves out may be anywhere: numbers beside them would be blocks beyond.
        is_one = not form.along and (load.mask is None or _gathers_once(load))
        if is_one:
            entries[position] = element(form, shape[position], build, sums)
            kept = narrow(entries, shape, dims_apart(entries, sums), build, sums)
        else:
            entries[position] = _spread(index, spread, build)
        self.load = LoadOp(load.memory, entries, None if is_one else needed, attributes=load.attributes)
        self.value = build.add(self.load, load.result.name_hint or "chosen")
        if is_one:
            self.value = as_block_of(load, self.value, block_axes(entries, shape), kept, build)


def _gathers_once(load: LoadOp) -> bool:
    return sum(map(is_gather, load.entries)) == 1


def _spread(value: SSAValue, ops: Sequence[Operation], build: Builder) -> SSAValue:
    """A value under the dimensions that some ops give."""
    for op in ops:
        if isinstance(op, BroadcastOp):
            value = build.add(BroadcastOp(value, op.mapping, op.result_type.with_element(element_of(value))))
        elif isinstance(op, ReshapeOp):
            value = build.add(ReshapeOp(value, op.result_type.with_element(element_of(value))))
    return value


def _to_block(load: LoadOp, value: SSAValue, build: Builder) -> SSAValue:
    """What is known for each gathered place for all lanes of a block."""
    axes = block_axes(load.entries, array_type(load.memory).get_shape())
    places = [n for n, axis in enumerate(axes) if axis.gather_dim is not None]
    return build.spread(value, tile_type(load.result).dims.data, places)


def _is_only_used_where(condition: SSAValue, load: LoadOp, sums: SumAnalysis) -> bool:
    """Whether the lanes of a load in which a condition does not hold are chosen nowhere."""
    values, uses = [load.result], []
    while values:
        for use in values.pop().uses:
            if isinstance(use.operation, CastOp):
                values.append(use.operation.result)
            else:
                uses.append(use)
    selects = [use.operation for use in uses if isinstance(use.operation, SelectOp) and use.index == 1]
    same = all(sums.condition(select.condition) == sums.condition(condition) for select in selects)
    return load.mask is None and len(selects) == len(uses) and same


def selected_sums(load: LoadOp, sums: SumAnalysis) -> list[tuple[LoadOp, GatherPlaces]]:
    """Puts a choice from two loads in the place of one whose lanes lie near numbers of places in either case; gives
    them, with these places. None, and nothing is changed, where less memory comes without.

        %v = tile.load %x[%at] …   // where(%c, %a, %b) + %j
    becomes
        %t = tile.load %x[%a + %j] …   %f = tile.load %x[%b + %j] …   %v = tile.select %c, %t, %f
    """
    if (found := cases_of(load, sums)) is None:
        return []
    condition, cases = found
    build, (entry,) = Builder(load), load.indices
    write = TileWriter(build.add, sums.exact.begin)
    dims = tile_type(entry).dims.data
    loads = [replacing(load, LoadOp(load.memory, [write.value(index, dims, i32)])) for index, _ in cases]
    first, second = (build.add(one, load.result.name_hint or "case") for one in loads)
    replace_load(load, build.select(write.condition(condition, dims), first, second))
    return [(one, places) for one, (_, places) in zip(loads, cases, strict=True)]
