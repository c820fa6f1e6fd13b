"""The plan of a grid's accesses at computed places, and what such a plan says. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from kopt.analysis.plans import buffer_names
from kopt.analysis.values.gathers import Choice
from kopt.dialects.tile import GridOp, LoadOp
from kopt.dialects.tile.access_ids import access_ids, operand_names
from kopt.dialects.tile.memory import Access
from kopt.plans.kinds import VALUES
from kopt.plans.pins import Pin
from kopt.plans.plan import Buffer, Plan
from kopt.walk import walk

#: An array, a kind, the access whose block it picks from, and what is pinned.
_Key = tuple[str, str, Operation | None, Pin | None]


def value_plan(grid: GridOp, chosen: Mapping[Operation, Choice], pins: Mapping[Operation, Pin]) -> Plan:
    """The plan that gives accesses what is chosen for them; accesses of one array with one choice share a buffer.

    A block that is picked from is a ``window`` here: it is decided later how it comes.
    """
    names, ids = operand_names(grid), access_ids(grid)
    holders = {choice.held.holder for choice in chosen.values() if choice.held is not None}
    served: dict[_Key, list[Operation]] = {}
    for op in walk(grid, Access):
        if op in chosen or op in holders:
            choice = chosen.get(op, Choice("window"))
            holder = None if choice.held is None else choice.held.holder
            served.setdefault((names[op.memory], choice.kind, holder, pins.get(op)), []).append(op)
    named = dict(zip(served, buffer_names(operand for operand, *_ in served), strict=True))
    via = {op: named[key] for key, ops in served.items() for op in ops}
    buffers = [_buffer(name, key, via) for key, name in named.items()]
    return Plan(grid.tags, parallel_axes(grid), tuple(buffers), {ids[op]: name for op, name in via.items()})


def _buffer(name: str, key: _Key, via: Mapping[Operation, str]) -> Buffer:
    operand, kind, holder, pin = key
    source = None if holder is None else via[holder]
    if pin is None:
        return Buffer(name, operand, kind, source=source)
    return Buffer(name, operand, kind, pin.axes or (), pin.depth or 1, source, options=pin.options)


def value_buffers(grid: GridOp) -> dict[Access, Buffer]:
    """The buffers of the accesses that have one of such kinds."""
    found = buffers_of(grid)
    return {op: buffer for op, buffer in found.items() if buffer.kind in VALUES}


def buffers_of(grid: GridOp) -> dict[Access, Buffer]:
    """The buffer of each access that has one."""
    buffers = {} if grid.plan is None else {buffer.name: buffer for buffer in grid.plan.data.buffers}
    return {op: buffers[op.via.data] for op in walk(grid, Access) if op.via is not None}


def parallel_axes(grid: GridOp) -> frozenset[str]:
    """The axes of a grid of which nothing says that they run in order."""
    in_order = {*grid.reduction_dims, *grid.ordered_dims}
    return frozenset(tag for number, tag in enumerate(grid.tags) if number not in in_order)


def sources_of(grid: GridOp, buffer: Buffer) -> list[LoadOp]:
    """The loads whose blocks a buffer is picked from."""
    if buffer.source is None:
        return []
    given = buffers_of(grid).items()
    return [op for op, other in given if other.name == buffer.source and isinstance(op, LoadOp)]
