"""Whether updates of 64-bit integers leave numbers that fit 32 bits: by proof, or where calls check their arguments.

Pure. An element starts as what its array is filled with, or as what a call finds in it; it is exchanged for values of
the kernel, and every addition that may meet in it adds at most its largest value. Values come of constants, of narrower
integers, and of arrays that calls can look at: the wider the interval of those, the better.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.intervals import argument_of
from kopt.analysis.updates_per_element import ranges_around, walked
from kopt.analysis.values.updates import values_of
from kopt.analysis.wide_facts import HIGH, WideFact, array_of, fact_of, has_facts
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.host import AllocOp, LaunchOp
from kopt.dialects.tile import ForOp, GridOp, LoadOp, StoreOp, TileType, WhenOp, is_gather
from kopt.dialects.tile.values import literal_value
from kopt.ir.ranges import binding
from kopt.walk import walk

_BITS = ("and", "or", "xor")
Writes = RmwOp | CasOp | StoreOp
Intervals = Mapping[SSAValue, tuple[int, int]]


class Unbounded(Exception):
    """Why the elements of a target may not fit 32 bits, and the access for whose sake."""

    def __init__(self, op: Operation, reason: str):
        super().__init__(reason)
        self.op = op


@dataclass(frozen=True)
class Bounds:
    """``checked`` are the intervals that calls must find in arrays; no element is larger than ``largest`` then."""

    checked: Intervals
    largest: int


def update_bounds(launch: LaunchOp, number: int, known: Mapping[SSAValue, int]) -> Bounds:
    """What it takes to hold a target of 64-bit integers in 32 bits; ``known`` are the largest sizes in other arrays.

    Raises `Unbounded`.
    """
    memory = launch.body.block.args[number]
    writes = [op for op in walk(launch) if isinstance(op, Writes) and op.memory is memory]
    kinds = {op.kind.data for op in writes if isinstance(op, RmwOp)}
    if "add" in kinds and kinds & {*_BITS}:
        raise Unbounded(writes[0], "its bits are changed between additions")
    start = _start(launch, number, known, writes[0])
    arrays = _arrays(writes)
    problem = Unbounded(writes[0], "")
    for width in range(31, 0, -1) if arrays else (31,):
        interval = (1 - 2**width, 2**width - 1)
        try:
            added, others = _sizes(launch, writes, dict.fromkeys(arrays, interval))
            return _bounds(writes, dict.fromkeys(arrays, interval), start, added, others)
        except Unbounded as narrower:
            problem = narrower
    raise problem


def _bounds(writes: Sequence[Writes], checked: Intervals, start: int | SSAValue, added: int, others: int) -> Bounds:
    """The bounds where what is added leaves room for what was there; half of all that fits for what a call finds."""
    given = isinstance(start, SSAValue)
    room = HIGH - added
    if (room < HIGH // 2 if given and checked else room < 0) or others > room or not given and start > room:
        raise Unbounded(writes[0], f"additions to one element may come to {added:,}")
    if given:
        return Bounds({**checked, start: (-room, room)}, HIGH)
    return Bounds(checked, max(start, others) + added)


def _start(launch: LaunchOp, number: int, known: Mapping[SSAValue, int], op: Operation) -> int | SSAValue:
    """The largest size of an element before the launch, or the argument that a call finds it in."""
    if number >= len(launch.inputs) or number in launch.donated:
        return 0
    array = root(launch.inputs[number])
    if isinstance(alloc := array.owner, AllocOp):
        return abs(int(literal_value(alloc.fill))) if alloc.fill is not None else 0
    if array in known:
        return known[array]
    if argument_of(array) is None:
        raise Unbounded(op, "what it holds before is computed on the host")
    return array


# Values.


def _arrays(writes: Sequence[Writes]) -> list[SSAValue]:
    """The arguments that written values are computed from, not counting those that tell only places."""
    work = [value for op in writes for value in values_of(op)]
    seen: set[SSAValue] = set()
    found: dict[SSAValue, None] = {}
    while work:
        value = work.pop()
        if value in seen or not isinstance(op := value.owner, Operation):
            continue
        seen.add(value)
        if not isinstance(op, LoadOp):
            work += op.operands
        elif argument_of(array := array_of(op.memory)) is not None and _is_integer(array):
            found[array] = None
    return list(found)


def _is_integer(array: SSAValue) -> bool:
    element = array.type.element_type if isinstance(array.type, MemRefType) else None
    return isinstance(element, IntegerType) and element.width.data in (32, 64)


def _sizes(launch: LaunchOp, writes: Sequence[Writes], intervals: Intervals) -> tuple[int, int]:
    """The most that is added to one element, and the largest of the other values."""
    facts = _facts(launch, intervals)
    added = others = 0
    for op in writes:
        size = max(_size(op, value, facts) for value in values_of(op))
        if isinstance(op, RmwOp) and op.kind.data == "add":
            added += size * _meeting(op)
        else:
            others = max(others, size)
    return added, others


def _facts(launch: LaunchOp, intervals: Intervals) -> dict[SSAValue, WideFact | None]:
    facts: dict[SSAValue, WideFact | None] = {}
    for op in walk(launch):
        for result in op.results:
            if has_facts(result):
                facts[result] = fact_of(result, facts, intervals)
    return facts


def _size(op: Writes, value: SSAValue, facts: Mapping[SSAValue, WideFact | None]) -> int:
    fact = facts.get(value)
    if fact is None or fact.kind not in ("exact", "offset"):
        raise Unbounded(op, "how large its values are is not known")
    return max(-fact.low, fact.high)


# How many updates meet.


def _meeting(op: RmwOp) -> int:
    """The most lanes of all cells that update one element."""
    if any(not isinstance(parent, (GridOp, ForOp, WhenOp, scf.IfOp)) for parent in _parents(op)):
        raise Unbounded(op, "how often it is updated is not known")
    moving, meeting = set(walked(op)), 1
    for range in ranges_around(op):
        if range not in moving:
            trips = binding(range).trips
            if trips is None:
                raise Unbounded(op, "how often it is updated is not known")
            meeting *= trips
    gathers = [entry.type for entry in op.entries if is_gather(entry)]
    return meeting * (prod(gathers[0].shape) if gathers and isinstance(gathers[0], TileType) else 1)


def _parents(op: Operation) -> Iterator[Operation]:
    block: Block | None = op.parent
    while block is not None and not isinstance(parent := block.parent_op(), LaunchOp) and parent is not None:
        yield parent
        block = parent.parent
