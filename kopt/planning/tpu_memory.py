"""What a plan takes of a TPU's memories, at given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from kopt.ir.register_code import Nest, RegisterCode, nests_of
from kopt.planning.blocks import SCALAR, WINDOWS, Blocks
from kopt.planning.register_trace import Schedule, Sizing, WrittenVisits
from kopt.planning.trips import AllTrips, Number, Sizes, Trips, value
from kopt.plans.plan import Buffer, LoopSchedule, Plan, Value
from kopt.targets.budget import Budget
from kopt.targets.tiling import padded_bytes

#: Schedules of loops that hand values on in scratch memory.
_IN_SCRATCH = ("grid", "emit_pipeline")


class Memory:
    """The memory of one plan; what a launch alone tells is an `UnknownError`."""

    def __init__(self, plan: Plan, trips: AllTrips, blocks: Blocks):
        self._plan, self._trips, self._blocks = plan, trips, blocks

    def vmem(self) -> Number:
        """``Σ blocks × depth + scratch``: what libtpu itself counts."""
        buffers = [one for one in self._plan.buffers if one.kind not in SCALAR and one.source is None]
        buffers = [one for one in buffers if self._blocks.accesses(one)]
        pairs = [(self._blocks.memory(one), self._buffers(one)) for one in buffers]
        return Budget.blocks(pairs, sum(map(self._accumulator, buffers)))

    def _buffers(self, buffer: Buffer) -> Number:
        """How many a buffer has: one where its index never changes, and twice as many where blocks come and leave."""
        moves = sum(self._trips.moves(tag) for tag in buffer.axes) if buffer.axes else False
        depth = np.where(np.asarray(moves) > 0, buffer.depth, min(1, buffer.depth))
        both = buffer.kind in WINDOWS and self._blocks.reads(buffer) and self._blocks.writes(buffer)
        return depth * (2 if both else 1)

    def _accumulator(self, buffer: Buffer) -> Number:
        """The 32-bit scratch of an output that gathers along axes with more than one block."""
        along = [axis for name, axes in buffer.options if name in ("accumulate", "over") for axis in _axes(axes)]
        moves = [self._trips.moves(tag) for tag in along]
        return (sum(moves) > 0) * self._blocks.memory(buffer, 32) if moves else 0

    def smem(self) -> Number:
        """Bytes of scalar memory."""
        return sum((self._blocks.memory(one) * one.depth for one in self._plan.buffers if one.kind in SCALAR), 0)


def planned_loops(loops: Mapping[str, LoopSchedule], trips: Mapping[str, Trips]) -> Schedule:
    """How loops run that have such schedules, and so many visits where these are known.

    Those of a loop in which there are loops are not written out.
    """

    def schedule(nest: Nest, sizing: Sizing) -> WrittenVisits:
        loop, count = loops.get(nest.tag, LoopSchedule("resident")), trips.get(nest.tag)
        inner = [one.tag for one in nests_of(nest.steps) if one.tag]
        if loop.unroll > 1 and any(tag not in trips or sizing.holds(trips[tag].moves) for tag in inner):
            loop = replace(loop, unroll=1)
        if count is not None and not count.inside and sizing.holds(count.mean <= loop.unroll):
            return WrittenVisits(int(sizing.number(count.mean)), all=True)
        return WrittenVisits(loop.unroll, in_scratch=loop.kind in _IN_SCRATCH)

    return schedule


def carried_bytes(code: RegisterCode, sizes: Sizes, loops: Mapping[str, LoopSchedule], trips: AllTrips) -> Number:
    """Bytes of scratch memory for what loops carry that are axes of the grid, or pipelines, and have several visits."""
    nests = (nest for nest in nests_of(code.steps) if nest.tag in loops and loops[nest.tag].kind in _IN_SCRATCH)
    shapes = ((nest.tag, code.shapes[number]) for nest in nests for numbers in nest.shapes for number in numbers)
    total: Number = 0
    for tag, (dims, bits) in shapes:
        total = total + trips.moves(tag) * padded_bytes([value(n, sizes) for n in dims] or [1], max(8, bits))
    return total


def _axes(value: Value) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, tuple) else ()
