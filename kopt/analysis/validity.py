"""Which lanes are valid where the type no longer tells: what each op that moves or combines lanes does to validity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue

from kopt.analysis.lane_facts import Facts, LaneFact, LaneFacts, Rule, concerning, tiles
from kopt.analysis.regrouping import dropped_tags, groups
from kopt.dialects import tile
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.jagged import ValidOp as JaggedValidOp
from kopt.dialects.tile import TileType, block_axes, is_gather
from kopt.dialects.tile.memory import memory_shape
from kopt.dialects.triton import JoinOp, RetagOp


class LaneValidity(LaneFacts):
    """Builds validity tiles after what they speak of; each value's once.

    ``of(value)`` is an i1 tile of the value's dimensions that holds on the lanes made from valid lanes only, or None
    where tags tell everything. The rearrangements are replayed on the validity of the ranges.
    """

    def __init__(self) -> None:
        super().__init__(_rule_of)


def _rule_of(value: SSAValue) -> Rule | None:
    if not isinstance(value.type, TileType):
        return None
    return _same_lanes if isinstance(value.owner, tile.ElementwiseOp) else _RULES.get(type(value.owner))


def _together(*several: Facts) -> Facts:
    """All facts, each once."""
    found: dict[tuple[SSAValue, tuple[int, ...]], LaneFact] = {}
    for fact in (fact for facts in several for fact in facts):
        found.setdefault((fact.mask, fact.dims), fact)
    return tuple(found.values())


def _same_lanes(b: LaneFacts, op: Operation, value: SSAValue) -> Facts:
    rank = tile.tile_type(value).rank
    return _together(*(b.facts(each) for each in tiles(op.operands) if tile.tile_type(each).rank == rank))


def _moved(facts: Facts, places: Mapping[int, int], items: bool = True) -> Facts:
    """Facts whose dimensions went to other places, in the same order."""
    out: list[LaneFact] = []
    for fact in facts:
        owners = tuple(places[dim] for dim in fact.items) if items else ()
        out.append(replace(fact, dims=tuple(places[dim] for dim in fact.dims), items=owners))
    return tuple(out)


def _without(b: LaneFacts, fact: LaneFact, dims: Sequence[int], at: SSAValue) -> LaneFact:
    """A fact without dimensions of one lane."""
    gone = [n for n, dim in enumerate(fact.dims) if dim in dims]
    if not gone:
        return fact
    type = tile.tile_type(fact.mask)
    mask = b.insert(tile.ReshapeOp(fact.mask, TileType([d for n, d in enumerate(type.shape) if n not in gone], i1)), at)
    rest = tuple(dim for dim in fact.dims if dim not in dims)
    return LaneFact(mask, rest, tuple(dim for dim in fact.items if dim in rest))


def _reshape(b: LaneFacts, op: tile.ReshapeOp, value: SSAValue) -> Facts:
    before, after = op.input_type, op.result_type
    if 0 in before.shape or isinstance(op.input.owner, tile.ValidOp | JaggedValidOp):
        return ()
    facts = _together(b.facts(op.input), b.tagged(op.input, dropped_tags(before, after)))
    return tuple(_regrouped(b, fact, before.shape, after.shape, value) for fact in facts)


def _regrouped(b: LaneFacts, fact: LaneFact, before: Sequence[int], after: Sequence[int], at: SSAValue) -> LaneFact:
    """A fact follows dimensions that stay; where they merge or split, its lanes are listed."""
    fact = _without(b, fact, [dim for dim in fact.dims if before[dim] == 1], at)
    touched = [group for group in groups(before, after) if not set(group.before).isdisjoint(fact.dims)]
    if all(group.kept for group in touched):
        return _moved((fact,), {group.before[0]: group.after[0] for group in touched})[0]
    source = [dim for group in touched for dim in group.before]
    target = [dim for group in touched for dim in group.after]
    wide = b.spread(fact, source, [before[dim] for dim in source], at)
    kept = {group.before[0]: group.after[0] for group in touched if group.kept}
    items = tuple(kept[dim] for dim in fact.items) if set(fact.items) <= set(kept) else ()
    return LaneFact(
        b.insert(tile.ReshapeOp(wide, TileType([after[dim] for dim in target], i1)), at), tuple(target), items
    )


def _broadcast(b: LaneFacts, op: tile.BroadcastOp, value: SSAValue) -> Facts:
    sizes, target = op.input_type.shape, op.result_type.shape
    repeated = [dim for dim, place in enumerate(op.mapping) if sizes[dim] != target[place]]
    facts = tuple(_without(b, fact, repeated, value) for fact in b.facts(op.input))
    return _moved(facts, dict(enumerate(op.mapping)))


def _transpose(b: LaneFacts, op: tile.TransposeOp, value: SSAValue) -> Facts:
    places = {source: n for n, source in enumerate(op.order)}
    return tuple(b.sorted(fact, value) for fact in _moved(b.facts(op.input), places))


def _slice(b: LaneFacts, op: tile.SliceOp, value: SSAValue) -> Facts:
    cut = {dim for dim, size in enumerate(op.input_type.shape) if op.bounds[dim] != (0, size, 1)}
    out: list[LaneFact] = []
    for fact in b.facts(op.input):
        bounds = [op.bounds[dim] for dim in fact.dims]
        first = fact.prefix and bounds[0][0] == 0
        if first and bounds[0][1] == 1:
            continue
        if not cut.isdisjoint(fact.dims):
            mask = b.insert(tile.SliceOp(fact.mask, *([bound[n] for bound in bounds] for n in range(3))), value)
            fact = replace(fact, mask=mask, prefix=first)
        out.append(fact)
    return tuple(out)


def _positive(b: LaneFacts, numbers: SSAValue, at: SSAValue) -> SSAValue:
    return b.insert(tile.ELEMENTWISE["gt"](numbers, b.insert(tile.FullOp(0, tile.tile_type(numbers)), at)), at)


def _take_along(b: LaneFacts, op: tile.TakeAlongOp, value: SSAValue) -> Facts:
    dim, type = op.dim.data, tile.tile_type(op.input)
    walked = b.range_of(op.input, type.tags[dim])
    whole = walked.owner if walked is not None and isinstance(walked.owner, tile.WholeOp) else None
    facts = _together(b.facts(op.input), () if whole else b.tagged(op.input, [dim]))  # none is past the true size
    known = _together(b.facts(op.indices), tuple(fact for fact in facts if dim not in fact.dims))
    every = list(range(type.rank))
    picked = b.joined(concerning(facts, [dim]), every, type.shape, value)
    if picked is None:
        return known
    lanes = op.indices
    if any(tile.tile_type(lanes).tags):
        lanes = b.insert(tile.ReshapeOp(lanes, tile.tile_type(lanes).with_dims(tile.tile_type(lanes).shape)), value)
    taken = b.insert(tile.TakeAlongOp(b.insert(tile.CastOp(picked, i32), value), lanes, dim), value)
    valid = _positive(b, taken, value)
    if tile.SPARE in op.attributes:  # nothing uses what other numbers pick: a select puts other lanes there
        extent = type.shape[dim] if whole is None else whole.extent.data
        valid = b.insert(tile.ELEMENTWISE["or"](valid, _outside(b, lanes, extent, value)), value)
    return (*known, LaneFact(valid, tuple(every)))


def _outside(b: LaneFacts, numbers: SSAValue, extent: int, at: SSAValue) -> SSAValue:
    """Where numbers are of no lane."""
    ends = (("lt", 0), ("ge", extent))
    tests = [
        b.insert(tile.ELEMENTWISE[name](numbers, b.insert(tile.FullOp(end, tile.tile_type(numbers)), at)), at)
        for name, end in ends
    ]
    return b.insert(tile.ELEMENTWISE["or"](*tests), at)


def _concat(b: LaneFacts, op: tile.ConcatOp, value: SSAValue) -> Facts:
    dim = op.dim.data
    parts = [_together(b.facts(each), b.tagged(each, [dim])) for each in op.inputs]
    common = _in_all(parts, dim)
    rest = [tuple(fact for fact in part if (fact.mask, fact.dims) not in common) for part in parts]
    if not any(rest):
        return tuple(common.values())
    dims = sorted({dim, *(each for part in rest for fact in part for each in fact.dims)})
    masks = [_listed(b, part, each, dims, value) for part, each in zip(rest, op.inputs, strict=True)]
    return (*common.values(), LaneFact(b.insert(tile.ConcatOp(masks, dims.index(dim)), value), tuple(dims)))


def _in_all(parts: Sequence[Facts], dim: int) -> dict[tuple[SSAValue, tuple[int, ...]], LaneFact]:
    """The facts about other dimensions that all parts have."""
    keys = [{(fact.mask, fact.dims) for fact in part} for part in parts]
    common = set.intersection(*keys)
    return {(f.mask, f.dims): f for f in parts[0] if (f.mask, f.dims) in common and dim not in f.dims}


def _listed(b: LaneFacts, facts: Facts, of: SSAValue, dims: Sequence[int], at: SSAValue) -> SSAValue:
    sizes = [tile.tile_type(of).shape[dim] for dim in dims]
    mask = b.joined(facts, dims, sizes, at)
    return b.insert(tile.FullOp(1, TileType(sizes, i1)), at) if mask is None else mask


def _mask(b: LaneFacts, op: tile.MaskOp, value: SSAValue) -> Facts:
    """Lanes that have just been filled are valid."""
    out: list[LaneFact] = []
    limited = [dim for dim, limit in enumerate(op.limits) if limit is not None]
    for fact in b.facts(op.input):
        if not set(fact.dims).isdisjoint(limited):
            inside = _inside(b, op, [dim for dim in limited if dim in fact.dims], fact, value)
            mask = b.insert(tile.ELEMENTWISE["or"](fact.mask, b.insert(tile.ELEMENTWISE["not"](inside), value)), value)
            fact = replace(fact, mask=mask, prefix=False)
        out.append(fact)
    return tuple(out)


def _inside(b: LaneFacts, op: tile.MaskOp, dims: Sequence[int], fact: LaneFact, at: SSAValue) -> SSAValue:
    """Where none of some dimensions is filled, over the dimensions of a fact."""
    shape = tile.tile_type(op.input).shape
    facts: list[LaneFact] = []
    for dim in dims:
        lanes = b.insert(tile.ValidOp(op.limits[dim]), at)  # pyright: ignore[reportArgumentType]
        facts.append(LaneFact(b.insert(tile.ReshapeOp(lanes, TileType(tile.tile_type(lanes).shape, i1)), at), (dim,)))
    inside = b.joined(tuple(facts), fact.dims, [shape[dim] for dim in fact.dims], at)
    assert inside is not None
    return inside


def _access(b: LaneFacts, op: tile.Access, value: SSAValue) -> Facts:
    """Of what is read, or was there before: the gathered rows, and what is written."""
    axes = block_axes(op.entries, memory_shape(op.memory.type))
    first = next((n for n, axis in enumerate(axes) if axis.gather_dim is not None), 0)
    rows: list[Facts] = []
    for entry in op.entries:
        if is_gather(entry):
            assert isinstance(entry, SSAValue)
            rows.append(_moved(b.facts(entry), {dim: dim + first for dim in range(tile.tile_type(entry).rank)}))
    written = (op.value,) if isinstance(op, RmwOp) else (op.expected, op.desired) if isinstance(op, CasOp) else ()
    return _together(*rows, *map(b.facts, written))


def _reduced(b: LaneFacts, facts: Facts, dims: Sequence[int], at: SSAValue) -> Facts:
    """A lane is valid where any that went into it was."""
    kept: list[LaneFact] = []
    for fact in facts:
        gone = [n for n, dim in enumerate(fact.dims) if dim in dims]
        rest = tuple(dim for dim in fact.dims if dim not in dims)
        if not rest or (gone and set(rest) <= set(fact.items)):
            continue
        if gone:
            items = tuple(dim for dim in fact.items if dim in rest)
            fact = LaneFact(b.insert(tile.ReduceOp("or", fact.mask, gone), at), rest, items)
        places = {dim: dim - sum(each < dim for each in dims) for dim in rest}
        kept += _moved((fact,), places)
    return tuple(kept)


def _reduce(b: LaneFacts, op: tile.ReduceOp, value: SSAValue) -> Facts:
    return _reduced(b, b.facts(op.input), op.dimensions, value)


def _argreduce(b: LaneFacts, op: tile.ArgReduceOp, value: SSAValue) -> Facts:
    return _reduced(b, b.facts(op.input), [op.dim.data], value)


def _combined(b: LaneFacts, op: tile.AssociativeReduceOp, value: SSAValue) -> Facts:
    return _reduced(b, _together(*map(b.facts, op.inputs)), [op.dim.data], value)


def _dot(b: LaneFacts, op: tile.DotOp, value: SSAValue) -> Facts:
    rank = tile.tile_type(op.lhs).rank
    right = _reduced(b, b.facts(op.rhs), [rank - 2], value)
    moved = _moved(right, {dim: dim + (dim == rank - 2) for dim in range(rank)})
    acc = () if op.accumulator is None else b.facts(op.accumulator)
    return _together(_reduced(b, b.facts(op.lhs), [rank - 1], value), moved, acc)


def _scaling(b: LaneFacts, op: tile.ScalingExtfOp, value: SSAValue) -> Facts:
    dim = op.dim.data
    rows = tuple(_repeated(b, fact, 1, op.group, value) for fact in b.facts(op.scale))
    moved = tuple(b.sorted(fact, value) for fact in _moved(rows, {0: 1 - dim, 1: dim}))
    return _together(tuple(_repeated(b, fact, dim, op.numbers_each, value) for fact in b.facts(op.input)), moved)


def _repeated(b: LaneFacts, fact: LaneFact, dim: int, times: int, at: SSAValue) -> LaneFact:
    """A fact whose lanes of a dimension became several each."""
    if dim not in fact.dims or times == 1:
        return fact
    shape, place = tile.tile_type(fact.mask).shape, fact.dims.index(dim)
    wide = TileType([*shape[: place + 1], times, *shape[place + 1 :]], i1)
    kept = [n + (n > place) for n in range(len(shape))]
    flat = TileType([size * times if n == place else size for n, size in enumerate(shape)], i1)
    mask = b.insert(tile.ReshapeOp(b.insert(tile.BroadcastOp(fact.mask, kept, wide), at), flat), at)
    return LaneFact(mask, fact.dims, tuple(each for each in fact.items if each != dim))


def _sort(b: LaneFacts, op: tile.SortOp, value: SSAValue) -> Facts:
    """The valid lanes come first: as many as there are."""
    dim, facts = op.dim.data, b.facts(op.input)
    concerned = concerning(facts, [dim])
    if all(fact.prefix for fact in concerned):
        return facts
    dims = sorted({dim, *(each for fact in concerned for each in fact.dims)})
    shape = [tile.tile_type(op.input).shape[each] for each in dims]
    valid = b.joined(_together(concerned, b.tagged(op.input, [dim])), dims, shape, value)
    assert valid is not None
    at = dims.index(dim)
    count = b.insert(tile.ReduceOp("add", b.insert(tile.CastOp(valid, i32), value), [at]), value)
    count = b.insert(tile.BroadcastOp(count, [n for n in range(len(dims)) if n != at], TileType(shape, i32)), value)
    lanes = b.insert(tile.ArangeOp(0, 1, TileType([shape[at]], i32)), value)
    lanes = b.insert(tile.BroadcastOp(lanes, [at], TileType(shape, i32)), value)
    mask = b.insert(tile.ELEMENTWISE["lt"](lanes, count), value)
    return (*(fact for fact in facts if dim not in fact.dims), LaneFact(mask, tuple(dims)))


_SAME_LANES = (
    tile.SelectOp,
    tile.CastOp,
    tile.BitcastOp,
    tile.PhiloxOp,
    tile.ScanOp,
    tile.AssociativeScanOp,
    tile.ValidLanesOp,
    RetagOp,
    JoinOp,
)
_RULES: dict[type[Any], Rule] = {
    tile.ReshapeOp: _reshape,
    tile.BroadcastOp: _broadcast,
    tile.TransposeOp: _transpose,
    tile.SliceOp: _slice,
    tile.TakeAlongOp: _take_along,
    tile.ConcatOp: _concat,
    tile.MaskOp: _mask,
    tile.LoadOp: _access,
    RmwOp: _access,
    CasOp: _access,
    tile.ReduceOp: _reduce,
    tile.ArgReduceOp: _argreduce,
    tile.AssociativeReduceOp: _combined,
    tile.DotOp: _dot,
    tile.ScalingExtfOp: _scaling,
    tile.SortOp: _sort,
    **dict.fromkeys(_SAME_LANES, _same_lanes),
}
