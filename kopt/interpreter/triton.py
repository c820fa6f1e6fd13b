"""What launches on a GPU do: programs in a random order, each with its number and the ranges made of it."""

from __future__ import annotations

from math import prod

import numpy as np

from kopt.dialects.tile import range_type
from kopt.dialects.triton import BarrierOp, BoundedOp, JoinOp, LaunchOp, ProgramIdOp, RangeOp, RetagOp
from kopt.interpreter.conflicts import Monitor
from kopt.interpreter.loops import written
from kopt.interpreter.machine import Handler, Machine, check_visits
from kopt.interpreter.sums import Sums
from kopt.interpreter.values import Bound, TileValue, both


def _launch(m: Machine, op: LaunchOp) -> None:
    count = op.programs.data * prod(-(-m[extent] // size) for extent, size in op.per)
    check_visits(count, "programs", op)
    block = op.body.block
    for arg, value in zip(block.args, op.inputs, strict=True):
        m[arg] = m[value]
    outer, m.sums = (m.monitor, m.program), Sums()
    if m.check_conflicts:
        m.monitor = Monitor(written(m, op.body))
    for number, program in enumerate(m.random.permutation(count), 1):
        if m.monitor is not None:
            m.monitor.cell = number
        m.program = int(program)
        m.run_block(block)
    m.monitor, m.program = outer


def _range(m: Machine, op: RangeOp) -> Bound:
    lower, limit, size = op.lower.data, op.limit, range_type(op.result).size
    number, upper = m[op.block], limit if isinstance(limit, int) else m[limit]
    bound = Bound(lower + number * size, size, upper, number, max(0, -((lower - upper) // size)))
    m.bind(op.result, bound)
    return bound


def _retag(m: Machine, op: RetagOp) -> TileValue:
    return m.tile(op.input)


def _bounded(m: Machine, op: BoundedOp) -> TileValue:
    numbers = m.tile(op.input)
    data = numbers.data
    return TileValue(np.where((data < 0) | (data >= op.limit.data), 0, data).astype(data.dtype), numbers.valid)


def _join(m: Machine, op: JoinOp) -> TileValue:
    first, second = m.tile(op.first), m.tile(op.second)
    valid = both(first.valid, second.valid)
    return TileValue(np.stack([first.data, second.data], -1), valid)


HANDLERS: dict[type, Handler] = {
    BarrierOp: lambda m, op: (),
    JoinOp: _join,
    LaunchOp: _launch,
    ProgramIdOp: lambda m, op: m.program,
    RangeOp: _range,
    RetagOp: _retag,
    BoundedOp: _bounded,
}
