"""What kernels on a TPU do: calls, whose cells run in grid order on one or two cores, pipelines, and copies.

Memory is what it is there: every lane of a block is written, also those outside of their ranges; a block that is not
inside its ref is an error; scratch memory is undefined when a core begins.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from kopt.dialects.pallas import BitcastRowsOp, CallOp, DmaStartOp, DmaWaitOp, FetchOp, PipelineOp, ScratchOp, SendOp
from kopt.dialects.tile import GridOp, RefType, element_of, range_type
from kopt.dialects.tile.index_list import AllAttr, Entry, SliceAttr
from kopt.errors import AccessError
from kopt.interpreter.loops import LoopBlocks
from kopt.interpreter.machine import Handler, Machine, check_visits
from kopt.interpreter.memory import get_block, put_block
from kopt.interpreter.rounding import bitcast_rows, numpy_type, poison
from kopt.interpreter.storage import address
from kopt.interpreter.sums import Sums
from kopt.interpreter.values import Bound, TileValue
from kopt.interpreter.windows import MovingWindow, Place, place_of, undefined


def _call(m: Machine, op: CallOp) -> Any:
    inputs: list[np.ndarray] = [m[value] for value in op.inputs]
    outputs = []
    for output, operand in zip(op.outputs, op.aliased, strict=True):
        if operand >= 0:
            inputs[operand] = inputs[operand].copy()
        outputs.append(inputs[operand] if operand >= 0 else _undefined_array(output.type))
    outer, m.monitor, m.sums = (m.monitor, m.physical), None, Sums()
    m.physical = True
    grid = next((inner for inner in op.body.block.ops if isinstance(inner, GridOp)), None)
    for cells in _cores(m, op, grid) if grid is not None else ():
        _run_core(m, op, grid, [*inputs, *outputs], cells)  # pyright: ignore[reportArgumentType]
        m.copies.finish()
    m.monitor, m.physical = outer
    return outputs[0] if len(outputs) == 1 else outputs


def _undefined_array(type: Any) -> np.ndarray:
    return np.full(type.get_shape(), poison(type.element_type), numpy_type(type.element_type))


def _axes(grid: GridOp) -> list[LoopBlocks]:
    bounds = zip(grid.ranges, grid.bounds, strict=True)
    return [LoopBlocks(lower, upper, range_type(arg).size) for arg, (lower, upper) in bounds]


def _cores(m: Machine, op: CallOp, grid: GridOp) -> Iterator[list[Place]]:
    """The cells of each core in order: two where a dimension may be shared out, now and then, one after the other."""
    counts = [len(axis) for axis in _axes(grid)]
    check_visits(math.prod(counts), "cells", grid)
    numbers = [range(count) for count in counts]
    shared = [n for n, word in enumerate(op.semantics.data) if word.data == "parallel" and counts[n] > 1]
    halves = [numbers]
    if shared and m.random.random() < 0.5:
        first, middle = shared[0], -(-counts[shared[0]] // 2)
        parts = [range(middle), range(middle, counts[first])]
        halves = [[part if n == first else axis for n, axis in enumerate(numbers)] for part in parts]
        halves = [halves[n] for n in m.random.permutation(2)]
    for axes in halves:
        if cells := list(itertools.product(*axes)):
            yield cells


def _run_core(m: Machine, op: CallOp, grid: GridOp, arrays: Sequence[np.ndarray], cells: list[Place]) -> None:
    refs = (*op.input_refs, *op.output_refs)
    windows = []
    for number, (array, ref, window) in enumerate(zip(arrays, refs, op.windows.data, strict=True)):
        places = [place_of(window, cell, lambda operand, at: _number_at(arrays[operand], at), ()) for cell in cells]
        is_input = number < len(op.inputs)
        windows.append(MovingWindow(array, ref, window, places, is_input, not is_input))
    for ref in op.scratch:
        assert isinstance(ref.type, RefType)
        m[ref] = undefined(ref.type)
    axes = _axes(grid)
    for step, cell in enumerate(cells):
        for window in windows:
            window.enter(m, step)
        for arg, axis, number in zip(grid.ranges, axes, cell, strict=True):
            m.bind(arg, axis[number])
        m.run_block(grid.body.block)
        for window in windows:
            window.leave(m, step)


def _number_at(array: np.ndarray, at: Place) -> int:
    """The number at a place of an array that an index map looks up."""
    if any(not 0 <= place < extent for place, extent in zip(at, array.shape, strict=True)):
        raise AccessError(f"an index map looks up element {list(at)} of an array of shape {list(array.shape)}")
    return int(array[at])


def _pipeline(m: Machine, op: PipelineOp) -> None:
    loop = op.loop
    lower, upper = (bound if isinstance(bound, int) else m[bound] for bound in loop.bounds)
    blocks = LoopBlocks(lower, upper, range_type(loop.range).size)
    given = [m[value] for value in op.at]
    windows = []
    for number, (value, ref, window) in enumerate(
        zip((*op.reads, *op.writes), op.blocks, op.windows.data, strict=True)
    ):
        places = [place_of(window, (step,), lambda *_: 0, given) for step in range(len(blocks))]
        is_read = number < len(op.reads)
        windows.append(MovingWindow(m[value], ref, window, places, is_read, not is_read))
    for step, bound in enumerate(blocks):
        for window in windows:
            window.enter(m, step)
        m.bind(loop.range, bound)
        m.run_region(loop.body.block, (bound,))
        for window in windows:
            window.leave(m, step)


def _scratch(m: Machine, op: ScratchOp) -> np.ndarray:
    assert isinstance(op.result.type, RefType)
    return undefined(op.result.type)


def block_of(m: Machine, array: np.ndarray, entries: Sequence[Entry]) -> np.ndarray:
    """The block that an index list names, a view of its ref; raises where the ref does not have all of it."""
    places = [_place(m, entry) for entry in entries]
    for place, size in zip(places, array.shape, strict=True):
        first, last = (place, place + 1) if isinstance(place, int) else (place.start or 0, place.stop or 0)
        if not 0 <= first <= last <= size and place != slice(None):
            raise AccessError(f"a copy of elements {first} to {last} of a dimension of {size}")
    return array[tuple(slice(place, place + 1) if isinstance(place, int) else place for place in places)]


def _place(m: Machine, entry: Entry) -> slice | int:
    if isinstance(entry, Bound):
        return slice(entry.begin, entry.begin + entry.size)
    if isinstance(entry, SliceAttr):
        return slice(entry.start.data, entry.stop.data, entry.step.data)
    if isinstance(entry, AllAttr):
        return slice(None)
    held = entry if isinstance(entry, int) else m[entry]
    return slice(held.begin, held.begin + held.size) if isinstance(held, Bound) else int(held)


def _start(m: Machine, op: DmaStartOp) -> None:
    source, target = block_of(m, m[op.source], op.source_entries), block_of(m, m[op.target], op.target_entries)
    assert isinstance(op.target.type, RefType)
    undefined = poison(op.target.type.element_type)
    m.copies.start(address(block_of(m, m[op.semaphore], op.semaphore_entries)), op, source, target, undefined, m.random)


def _wait(m: Machine, op: DmaWaitOp) -> None:
    size = block_of(m, m[op.target], op.target_entries).nbytes
    m.copies.wait(address(block_of(m, m[op.semaphore], op.semaphore_entries)), size, m.random)


def _bitcast_rows(m: Machine, op: BitcastRowsOp) -> TileValue:
    return TileValue(bitcast_rows(m.tile(op.input).data, element_of(op.result)))


HANDLERS: dict[type, Handler] = {
    BitcastRowsOp: _bitcast_rows,
    CallOp: _call,
    PipelineOp: _pipeline,
    ScratchOp: _scratch,
    FetchOp: get_block,
    SendOp: put_block,
    DmaStartOp: _start,
    DmaWaitOp: _wait,
}
