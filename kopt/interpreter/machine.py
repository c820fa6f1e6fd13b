"""The machine: what each SSA value holds, and the table of what each operation does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from kopt.diagnostics import location_of
from kopt.dialects import tile
from kopt.dialects.tile.extents import argument_extents
from kopt.errors import ArgumentError, KoptError, UnsupportedError
from kopt.interpreter.conflicts import Monitor
from kopt.interpreter.copies import Copies
from kopt.interpreter.rounding import numpy_type
from kopt.interpreter.sums import Sums
from kopt.interpreter.values import Bound, TileValue, Validity, ValidLanes
from kopt.interpreter.world import World
from kopt.limits import ELEMENTS, OPERATIONS, VISITS
from kopt.open_extents import OpenExtent, fits
from kopt.walk import walk

#: Computes an operation's results: none, one, or a tuple of several.
Handler = Callable[["Machine", Any], Any]
#: What runs each operation of a block, and the values that the block gives.
Steps = tuple[list[tuple[Callable[[Operation], None], Operation]], Sequence[SSAValue]]


def check_visits(count: int, what: str, op: Operation) -> None:
    """Refuses to go through more cells, programs or blocks of an op than end in a reasonable time."""
    if count > VISITS:
        message = f"the reference interpreter goes through at most {VISITS} {what}, found {count}"
        raise UnsupportedError(message, location_of(op))


def _placed(op: Operation, compute: Callable[..., Any], *before: Any) -> Any:
    """What is computed of an operation; errors without a place are about it."""
    try:
        return compute(*before, op)
    except KoptError as error:
        error.location = error.location or location_of(op)
        raise


class Machine:
    """Runs operations one after the other.

    Args: ``handlers`` what each operation does; ``seed`` of the order of cells; ``check_conflicts`` reports cells that
    access what another writes; ``masked`` trusts that masks were inserted: lanes outside their ranges are combined
    as they are.
    """

    def __init__(
        self,
        module: ModuleOp,
        handlers: dict[type[Operation], Handler],
        *,
        seed: int = 0,
        check_conflicts: bool = True,
        masked: bool = False,
    ):
        self.functions = {op.sym_name.data: op for op in walk(module, FuncOp)}
        self.check_conflicts = check_conflicts
        self.masked = masked
        self.random = np.random.default_rng(seed)
        self.monitor: Monitor | None = None
        """Watches memory accesses while a grid runs."""
        self.sums = Sums()
        """The sums of the grid that runs."""
        self.physical = False
        """Whether a kernel runs on a chip: accesses of refs touch all of their lanes."""
        self.world: World | None = None
        """The ranks of which this is one, and its ``rank`` among them; None: it runs alone."""
        self.rank = 0
        self.order: np.random.Generator | None = None
        """Draws which of the lanes of a store stays that name one place; None: the last."""
        self.reads_beyond = False
        """Whether what loads find beyond the end of an array is undefined, and no error."""
        self.copies = Copies()
        """Copies that are on the way."""
        self.program = 0
        """The number of the GPU program that runs."""
        self.extents: dict[OpenExtent, int] = {}
        """The extents of the arguments that differ from call to call."""
        self.executed = 0
        """How many operations have run."""
        self._handlers = handlers
        self._steps_of: dict[Block, Steps] = {}
        self._values: dict[SSAValue, Any] = {}
        self._bounds: dict[str, Bound] = {}
        self._jagged: dict[str, Bound] = {}

    def __getitem__(self, value: SSAValue) -> Any:
        return self._values[value]

    def __setitem__(self, value: SSAValue, held: Any) -> None:
        self._values[value] = held

    def number(self, bound: SSAValue | int) -> int:
        """A bound of a loop."""
        return bound if isinstance(bound, int) else self._values[bound]

    def shape(self, type: MemRefType) -> tuple[int, ...]:
        """A shape, with the extents of the call."""
        return tuple(self.extent(n) if isinstance(n, OpenExtent) else n for n in type.get_shape())

    def extent(self, extent: OpenExtent) -> int:
        """What an extent that differs from call to call is in this one."""
        if extent not in self.extents:
            raise UnsupportedError(f"no argument has the extent {extent.name}")
        return self.extents[extent]

    def tile(self, value: SSAValue) -> TileValue:
        """The tile that a value holds."""
        return self._values[value]

    def bind(self, range: SSAValue, bound: Bound) -> None:
        """Bind a range for the visit that begins, and with it its tag."""
        self._values[range] = bound
        self._bounds[tile.tag_of(range)] = bound
        if bound.owned is not None:
            self._jagged[tile.tag_of(range)] = bound

    def watches(self, memory: SSAValue) -> bool:
        """Whether conflicts over an array that a grid writes are looked for."""
        return True

    def knows(self, entry: tile.Entry) -> bool:
        """Whether an index is what the function computes."""
        return True

    def visited(self, loop: Operation, blocks: Sequence[Bound]) -> Sequence[Bound]:
        """The blocks of a loop that are visited: all."""
        check_visits(len(blocks), "blocks", loop)
        return blocks

    def tagged(self, type: tile.TileType, dims: Sequence[int] | None = None) -> Validity:
        """The lanes inside the ranges that the tags of ``dims`` (all, where left out) name."""
        numbers = range(type.rank) if dims is None else dims
        own = tuple(lanes for dim in numbers if (tag := type.tags[dim]) for lanes in self._bounds[tag].along(dim))
        return own + tuple(lanes for lanes in self.owned(type.tags) if not set(lanes.dims).isdisjoint(numbers))

    def owned(self, tags: Sequence[str]) -> Validity:
        """The lanes that items have of the jagged loops among ``tags``, where the items' dimensions are there too."""
        result = []
        for tag, bound in self._jagged.items():
            if bound.owned is not None and tag in tags and set(bound.owners) <= set(tags):
                items = tuple(tags.index(owner) for owner in bound.owners)
                result.append(ValidLanes(bound.owned, (*items, tags.index(tag)), items))
        return tuple(result)

    def call(self, function: FuncOp, args: Sequence[Any]) -> tuple[Any, ...]:
        """Run a function of the module."""
        for extent, (argument, dim) in argument_extents(function.body.block.args).items():
            self.extents[extent] = args[argument.index].shape[dim]  # pyright: ignore[reportAttributeAccessIssue]
        for op in walk(function):
            _placed(op, self._check_sizes)
        return self.run_region(function.body.block, args)

    def _check_sizes(self, op: Operation) -> None:
        """Refuses results of more elements than the interpreter holds."""
        for result in op.results:
            if isinstance(result.type, MemRefType | tile.TileType) and self._lanes(result.type) > ELEMENTS:
                message = f"the reference interpreter holds at most {ELEMENTS} elements, found {result.type}"
                raise UnsupportedError(message, location_of(op))

    def _lanes(self, type: MemRefType | tile.TileType) -> int:
        return math.prod(self.shape(type) if isinstance(type, MemRefType) else type.shape)

    def run_region(self, block: Block, args: Sequence[Any] = ()) -> tuple[Any, ...]:
        """Run a block with its arguments; gives what its terminator passes on."""
        for arg, held in zip(block.args, args, strict=True):
            self._values[arg] = held
        return self.run_block(block)

    def run_block(self, block: Block) -> tuple[Any, ...]:
        """Run a block whose arguments are bound; gives what its terminator passes on."""
        if block not in self._steps_of:
            self._steps_of[block] = self._compiled(block)
        steps, passed = self._steps_of[block]
        for step, op in steps:
            step(op)
        return tuple([self[operand] for operand in passed])

    def _compiled(self, block: Block) -> Steps:
        """What visits of a block do, found once for all of them, and what its terminator passes on."""
        last = block.last_op
        end = last if last is not None and last.has_trait(IsTerminator) else None
        steps = [(self.step(op), op) for op in block.ops if op is not end]
        return [(step, op) for step, op in steps if step is not None], end.operands if end else ()

    def step(self, op: Operation) -> Callable[[Operation], None] | None:
        """What runs an operation; None leaves it out."""
        return self.execute

    def execute(self, op: Operation) -> None:
        """Run one operation; errors without a place are about this operation's."""
        handler = self._handlers.get(type(op))
        if handler is None:
            raise UnsupportedError(f"the reference interpreter does not run '{op.name}'", location_of(op))
        self.executed += 1
        if self.executed > OPERATIONS:
            message = f"the reference interpreter runs at most {OPERATIONS} operations"
            raise UnsupportedError(message, location_of(op))
        results = _placed(op, handler, self)
        if len(op.results) == 1:
            self._values[op.results[0]] = results
            return
        for result, held in zip(op.results, results or (), strict=True):
            self._values[result] = held


def check_arguments(function: FuncOp, args: Sequence[np.ndarray]) -> None:
    """Raise `ArgumentError` where the arrays do not fit the function's memrefs."""
    types = function.function_type.inputs.data
    if len(args) != len(types):
        raise ArgumentError(f"'{function.sym_name.data}' takes {len(types)} arrays, found {len(args)}")
    for number, (arg, type) in enumerate(zip(args, types, strict=True)):
        if not isinstance(type, MemRefType):
            continue
        name = f"argument {number} of '{function.sym_name.data}' is {type}"
        if len(arg.shape) != type.get_num_dims() or not fits(arg.shape, type.get_shape()):
            raise ArgumentError(f"{name}, found shape {tuple(arg.shape)}")
        if arg.dtype != numpy_type(type.element_type):
            raise ArgumentError(f"{name}, held in {numpy_type(type.element_type)}, found {arg.dtype}")
