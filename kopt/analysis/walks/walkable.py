"""Where the lanes of a whole dimension of an array go in a cell: reductions and stores, or it is not walked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from kopt.analysis.aliases import root
from kopt.analysis.splittable_dims import Lanes, needed, sources
from kopt.dialects.tile import (
    Access,
    AllAttr,
    ArgReduceOp,
    DotOp,
    GridOp,
    LoadOp,
    ReduceOp,
    StoreOp,
    TileType,
    block_axes,
    tile_type,
)
from kopt.dialects.tile.memory import WritesMemory, memory_shape
from kopt.walk import walk

#: Ops that combine the lanes of a dimension to one.
Reduction = ReduceOp | ArgReduceOp | DotOp


class NotWalkable(Exception):
    """Why a dimension stays in one piece, and the op because of which."""

    def __init__(self, reason: str, op: Operation):
        super().__init__(reason)
        self.op = op


@dataclass(frozen=True)
class Sink:
    """An op at which a dimension ends: ``dims`` has each operand with its lanes, by number, and where it is there."""

    op: Reduction | StoreOp
    dims: Mapping[int, int]

    @property
    def lanes(self) -> list[Lanes]:
        """The operands, with the dimension of each."""
        return [(self.op.operands[number], dim) for number, dim in self.dims.items()]


@dataclass(frozen=True)
class Walkable:
    """A dimension that may be walked: its elements, where it ends, in the order of the program, and all its values.

    ``block`` is where the ends are, and the walks will be.
    """

    extent: int
    block: Block
    sinks: tuple[Sink, ...]
    values: Mapping[Lanes, None]

    @property
    def reductions(self) -> list[Reduction]:
        """The ends that combine lanes."""
        return [sink.op for sink in self.sinks if isinstance(sink.op, Reduction)]


def walkable(grid: GridOp, memory: SSAValue, dim: int) -> Walkable:
    """What a walk over a dimension of an array has to compute. Raises `NotWalkable`."""
    starts, sinks = _starts(grid, memory, dim)
    for value, place in _reached(starts):
        for use in value.uses:
            if (sink := _sink(use.operation, use.index, place)) is not None:
                sinks[use.operation] = sink
            elif not _goes_on(use.operation, use.index, place):
                raise NotWalkable(f"{use.operation.name} takes it in one piece", use.operation)
    if not sinks:
        raise NotWalkable(f"no access takes dimension {dim} of '{_name(memory)}' whole and uses it", grid)
    block = _block([op for op in walk(grid) if op in sinks])
    ends = tuple(sinks[op] for op in block.ops if op in sinks)
    found = Walkable(memory_shape(memory.type)[dim], block, ends, _values(ends))
    _check_memory(found, grid)
    return found


def _starts(grid: GridOp, memory: SSAValue, dim: int) -> tuple[list[Lanes], dict[Operation, Sink]]:
    """What is loaded of a whole dimension, and the stores to it, with what they are made from."""
    loads: list[Lanes] = []
    stores: dict[Operation, Sink] = {}
    for op in walk(grid, LoadOp, StoreOp):
        if op.memory is not memory:
            continue
        for place, axis in enumerate(block_axes(op.entries, memory_shape(memory.type))):
            if axis.position == dim and isinstance(op.entries[dim], AllAttr):
                if isinstance(op, LoadOp):
                    loads.append((op.result, place))
                elif (sink := _stored(op, place)) is not None:
                    stores[op] = sink
                    made = [part for lanes in sink.lanes for part in needed(*lanes)]
                    loads += [part for part in made if isinstance(part[0].owner, LoadOp)]
    return loads, stores


def _reached(starts: Sequence[Lanes]) -> Iterator[Lanes]:
    """What has the lanes of some values, lane by lane, each once."""
    todo, seen = list(starts), set(starts)
    while todo:
        value, dim = todo.pop()
        yield value, dim
        found = [part for use in value.uses for part in _goes_on(use.operation, use.index, dim)]
        todo += dict.fromkeys(part for part in found if part not in seen)
        seen.update(found)


def _goes_on(op: Operation, operand: int, dim: int) -> list[Lanes]:
    """The results of an op whose lanes come from those of a dimension of an operand, with their dimensions."""
    types = [(result, result.type) for result in op.results if isinstance(result.type, TileType)]
    places = [(result, place) for result, type in types for place in range(type.rank)]
    return [(result, place) for result, place in places if (sources(result, place) or {}).get(operand) == dim]


def _sink(op: Operation, operand: int, dim: int) -> Sink | None:
    """The end of a dimension of an operand, if an op is that."""
    if isinstance(op, StoreOp):
        return _stored(op, dim)
    if isinstance(op, ReduceOp) and dim in op.dimensions or isinstance(op, ArgReduceOp) and dim == op.dim.data:
        return Sink(op, {0: dim})
    if isinstance(op, DotOp) and operand < 2:
        summed = {0: tile_type(op.lhs).rank - 1, 1: tile_type(op.lhs).rank - 2}
        return Sink(op, summed) if summed[operand] == dim else None
    return None


def _stored(op: StoreOp, dim: int) -> Sink | None:
    """A store of a whole dimension of its array."""
    axis = block_axes(op.entries, memory_shape(op.memory.type))[dim]
    if op.gathers or not isinstance(op.entries[axis.position], AllAttr):
        return None
    numbers = [0] if op.mask is None else [0, list(op.operands).index(op.mask)]
    return Sink(op, dict.fromkeys(numbers, dim))


def _block(ops: Iterable[Operation]) -> Block:
    """The one block that the ends of a dimension are in."""
    first, *others = ops
    if elsewhere := [op for op in others if op.parent is not first.parent]:
        raise NotWalkable("loops or branches share it with what is around them", elsewhere[0])
    assert first.parent is not None and first.parent.last_op is not None
    if not first.parent.last_op.has_trait(IsTerminator):
        raise NotWalkable("it is used in some visits of a loop only", first)
    return first.parent


def _values(sinks: Iterable[Sink]) -> dict[Lanes, None]:
    """All that the ends of a dimension are made from, lane by lane."""
    found: dict[Lanes, None] = {}
    for sink in sinks:
        for value, dim in sink.lanes:
            for part in needed(value, dim):
                if sources(*part) is None:
                    owner = part[0].owner
                    name = owner.name if isinstance(owner, Operation) else "a loop"
                    raise NotWalkable(f"{name} makes it in one piece", sink.op)
                found[part] = None
    return found


def _check_memory(found: Walkable, grid: GridOp) -> None:
    """What is loaded again in each walk must not have changed: only the last one writes, what it has just loaded."""
    walked = {sink.op for sink in found.sinks} | {value.owner for value, _ in found.values}
    accesses = walk(grid, Access)
    written = {root(op.memory) for op in accesses if op.has_trait(WritesMemory)}
    for memory in {root(op.memory) for op in accesses if op in walked} & written:
        here = [op for op in accesses if root(op.memory) is memory]
        if outside := [op for op in here if op not in walked]:
            raise NotWalkable(f"'{_name(memory)}' is written by blocks, and used otherwise too", outside[0])
        if (op := _out_of_order(here)) is not None:
            raise NotWalkable(f"'{_name(memory)}' is read and written in different places", op)


def _out_of_order(accesses: Sequence[Access]) -> Access | None:
    """An access that would meet what another visit wrote, or has not written yet; all are in the walk."""
    first, stored = accesses[0], False
    loads = any(isinstance(op, LoadOp) for op in accesses)
    for op in accesses:
        alike = op.entries == first.entries and op.memory is first.memory and op.parent is first.parent
        places = _places(op) == _places(first)
        if stored and isinstance(op, LoadOp) or not (alike if loads else places):
            return op
        stored = stored or isinstance(op, StoreOp)
    return None


def _places(op: Access) -> list[int]:
    return [place for place, entry in enumerate(op.entries) if isinstance(entry, AllAttr)]


def _name(memory: SSAValue) -> str:
    return memory.name_hint or "array"
