"""What a Pallas call moves between HBM and the chip: blocks as often as they change, copies as often as they run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType, MemRefType
from xdsl.ir import Attribute, Block, SSAValue

from kopt.analysis.executions import CallMemory, Executions, evaluated
from kopt.dialects.pallas import CallOp, DmaStartOp, PipelineOp, WindowAttr
from kopt.dialects.tile import GridOp, RefType, TileType
from kopt.dialects.tile.memory import memory_shape, ref_block_type
from kopt.walk import walk


class Traffic:
    """Bytes that a call reads and writes, by the number of its array: operands, then results.

    ``exposed`` are those of the blocks of windows that come before the first step, and that leave after the last.
    """

    def __init__(self, call: CallOp, memory: CallMemory, blocks: Mapping[Block, Executions]):
        """Raises `UnknownNumber` where it depends on what only a launch tells."""
        self._call, self._memory, self._blocks = call, memory, blocks
        self._arrays = [*call.inputs, *call.outputs]
        self._refs = {ref: number for number, ref in enumerate((*call.input_refs, *call.output_refs))}
        self.reads = [0] * len(self._arrays)
        self.writes = [0] * len(self._arrays)
        self.exposed = 0
        self._windows()
        for op in walk(call, DmaStartOp, PipelineOp):
            self._copies(op) if isinstance(op, DmaStartOp) else self._pipeline(op)

    @property
    def moved(self) -> int:
        """All bytes."""
        return sum(self.reads) + sum(self.writes)

    @property
    def least(self) -> int:
        """Bytes of what moves, each once: no more of an array than it has."""
        sizes = [array_bytes(array.type) for array in self._arrays]
        pairs = [*zip(self.reads, sizes, strict=True), *zip(self.writes, sizes, strict=True)]
        return sum(min(moved, size) for moved, size in pairs)

    def _windows(self) -> None:
        grid = self._call.body.block.first_op
        assert isinstance(grid, GridOp)
        cells = self._blocks[grid.body.block]
        for number, (window, array) in enumerate(zip(self._call.windows.data, self._arrays, strict=True)):
            if window.space.data != "hbm" and cells.count:
                blocks = _window_bytes(window, array.type, self._memory.block_numbers(window, cells))
                written = number >= len(self._call.inputs)
                (self.writes if written else self.reads)[number] += int(blocks.sum())
                self.exposed += int(blocks[-1 if written else 0])

    def _copies(self, op: DmaStartOp) -> None:
        """Copies of one place of the kernel, all of its executions."""
        for ref, entries, moved in (
            (op.source, op.source_entries, self.reads),
            (op.target, op.target_entries, self.writes),
        ):
            if ref in self._refs and ref.type.space.data == "hbm":  # pyright: ignore
                block = ref_block_type(ref.type, entries)
                self._add(moved, ref, self._blocks[op.parent].count * _bytes(block.shape, block))  # pyright: ignore

    def _pipeline(self, op: PipelineOp) -> None:
        """The blocks of a loop: anew each time that it runs."""
        visits = self._blocks[op.loop.body.block]
        if not visits.count:
            return
        symbols = [visits.number(value) for value in op.at]
        dims = [visits.visit(op.loop.range).id]
        for number, (ref, window) in enumerate(zip((*op.reads, *op.writes), op.windows.data, strict=True)):
            numbers = evaluated(window.index.data, dims, symbols)
            blocks = _window_bytes(window, ref.type, numbers, visits.rows)
            self._add(self.reads if number < len(op.reads) else self.writes, ref, int(blocks.sum()))

    def _add(self, moved: list[int], ref: SSAValue, bytes: int) -> None:
        """What is read of a result is read of the operand whose buffer it takes over."""
        number = self._refs[ref]
        result = number - len(self._call.inputs)
        if moved is self.reads and result >= 0 and (operand := self._call.aliased[result]) >= 0:
            number = operand
        moved[number] += bytes


def array_bytes(type: Attribute) -> int:
    """The bytes of an array."""
    return _bytes(memory_shape(type), type)


def _bytes(shape: Iterable[int], of: Attribute) -> int:
    """The bytes of a block of an array or a ref."""
    assert isinstance(of, MemRefType | RefType | TileType) and isinstance(of.element_type, FixedBitwidthType)
    return prod(shape) * max(8, of.element_type.bitwidth) // 8


def _window_bytes(
    window: WindowAttr, array: Attribute, numbers: list[np.ndarray], run: np.ndarray | None = None
) -> np.ndarray:
    """The bytes of a window's blocks in their order, each as often as its number, or the ``run`` of a loop, changes.

    The last blocks of an array end with it.
    """
    steps = np.broadcast_arrays(*numbers, *(() if run is None else (run,)))
    changed = np.ones(len(steps[0]) if steps else 1, bool)
    changed[1:] = np.logical_or.reduce([each[1:] != each[:-1] for each in steps]) if steps else False
    lanes = np.ones(int(changed.sum()), np.int64)
    for number, size, extent in zip(steps, window.sizes, memory_shape(array), strict=False):
        lanes *= np.clip(extent - number[changed] * (size or 1), 0, size or 1)
    return lanes * _bytes((), array)
