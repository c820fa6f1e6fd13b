"""Runs the part of a function that decides which elements it touches, and looks at those alone.

Arrays whose elements do not count are stand-ins of one element; accesses that only count as places move nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from kopt.analysis.aliases import root
from kopt.analysis.index_slice import IndexSlice
from kopt.diagnostics import location_of
from kopt.dialects.host import ViewOp
from kopt.dialects.tile import Access, Entry, LoadOp, RangeType, StoreOp, TakeAlongOp, TileType
from kopt.dialects.tile.bodies import Carrying
from kopt.errors import KoptError
from kopt.interpreter import HANDLERS
from kopt.interpreter.access import check, locate
from kopt.interpreter.machine import Machine
from kopt.interpreter.memory import own_mask
from kopt.interpreter.rounding import numpy_type
from kopt.interpreter.shape import check_picks
from kopt.interpreter.values import Bound, TileValue, mask_of


class TooLong(Exception):
    """The part takes more steps than were allowed."""


class PartialMachine(Machine):
    """Runs a part of a function. Raises `AccessError` as the whole function would.

    Args: ``watched`` arrays over which conflicts between cells are looked for; ``steps`` operations at most, after
    which `TooLong` is raised; ``ends`` visits the first two and the last two blocks alone of loops that carry nothing.
    """

    def __init__(
        self,
        module: ModuleOp,
        part: IndexSlice,
        watched: frozenset[SSAValue] = frozenset(),
        *,
        steps: int | None = None,
        ends: bool = False,
    ):
        super().__init__(module, HANDLERS, check_conflicts=bool(watched))
        self._part = part
        self._watched = watched
        self._real = part.held | watched
        self._steps = steps
        self._ends = ends

    def __getitem__(self, value: SSAValue) -> Any:
        return self._values.get(value)

    def check(self, function: FuncOp, args: Sequence[np.ndarray | None]) -> None:
        """Run the part for arguments; None stands for those whose elements do not count."""
        values = function.body.block.args
        self.call(function, [self._blank(v) if a is None else a for v, a in zip(values, args, strict=True)])

    def watches(self, memory: SSAValue) -> bool:
        """Whether conflicts over an array that a grid writes are looked for."""
        return root(memory) in self._watched

    def knows(self, entry: Entry) -> bool:
        """Whether an index is what the function computes, not the first element in its place."""
        return entry not in self._part.assumed

    def visited(self, loop: Operation, blocks: Sequence[Bound]) -> Sequence[Bound]:
        """The blocks of a loop that are visited."""
        carries = isinstance(loop, Carrying) and any(self[value] is not None for value in loop.inits)
        count = len(blocks)
        return blocks if not self._ends or carries or count <= 4 else [blocks[n] for n in (0, 1, count - 2, count - 1)]

    def run_block(self, block: Block) -> tuple[Any, ...]:
        """Run the operations of a block that are of the part."""
        if self._steps is not None:
            self._steps -= len(block.ops)
            if self._steps < 0:
                raise TooLong
        return super().run_block(block)

    def step(self, op: Operation) -> Callable[[Operation], None] | None:
        """What runs an operation of the part, looks where an access goes, or makes an array; None for any other."""
        if op in self._part.run:
            return self.execute
        if op.results and all(isinstance(result.type, RangeType) for result in op.results):
            return self._bind
        if op in self._part.located:
            return self._look
        if op.results and all(isinstance(result.type, MemRefType) for result in op.results):
            return self._make
        return None

    def _bind(self, op: Operation) -> None:
        """A range, which types of the part may name without using it."""
        if all(self[operand] is not None for operand in op.operands):
            self.execute(op)

    def _make(self, op: Operation) -> None:
        """The arrays that an op of the host gives, whose elements do not count."""
        if isinstance(op, ViewOp) and root(op.result) in self._real:
            self.execute(op)
            return
        for result in op.results:
            self[result] = self._blank(result)

    def _blank(self, value: SSAValue) -> Any:
        """An array of a memref's shape, which takes memory only where it is written or watched."""
        if not isinstance(value.type, MemRefType):
            return None
        shape, dtype = self.shape(value.type), numpy_type(value.type.element_type)
        return np.zeros(shape, dtype) if value in self._real else np.broadcast_to(np.zeros((), dtype), shape)

    def _look(self, op: Operation) -> None:
        try:
            check_picks(self, op) if isinstance(op, TakeAlongOp) else self._locate(op)  # pyright: ignore[reportArgumentType]
        except KoptError as error:
            error.location = error.location or location_of(op)
            raise

    def _locate(self, op: Access) -> None:
        assumed = self._part.assumed.intersection(op.indices)
        for entry in assumed:
            self[entry] = self._first(entry.type)
        array: np.ndarray = self[op.memory]
        block = locate(self, op, array)
        active = check(self, op, block, array, self._mask(op))
        if self.monitor is not None and not assumed:  # where else cells meet is not known
            self._watch(op, array, block.index, None if active is None else active[block.window])

    def _first(self, type: Attribute) -> TileValue | int:
        """An index that is not known: the first element, in the lanes that a tile of the type has."""
        if not isinstance(type, TileType):
            return 0
        return TileValue(np.zeros(type.shape, np.int64), self.tagged(type))

    def _mask(self, op: Access) -> np.ndarray | None:
        """The lanes that an access names; of an update also those that its value has."""
        mask = own_mask(self, op)
        type = op.operands[0].type
        if not isinstance(type, TileType) or isinstance(op, StoreOp):
            return mask
        inside = mask_of(self.tagged(type), type.rank)
        return mask if inside is None else inside if mask is None else mask & inside

    def _watch(self, op: Access, array: np.ndarray, index: tuple, active: np.ndarray | None) -> None:
        assert self.monitor is not None
        if isinstance(op, LoadOp):
            self.monitor.read(op, array, index, active)
        elif isinstance(op, StoreOp):
            self.monitor.write(op, array, index, active, np.zeros((), bool))  # its value is not known to be another
        else:
            self.monitor.update(op, array, index, active)
