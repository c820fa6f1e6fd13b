"""One run of a module by the interpreter, and what a caller sees of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from kopt.analysis.aliases import written_arguments
from kopt.analysis.entry import entry_function
from kopt.dialects import symm
from kopt.dialects.tile import TileType
from kopt.errors import KoptError, UnsupportedError
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine, check_arguments
from kopt.interpreter.ring import exact
from kopt.interpreter.rounding import poisoned
from kopt.interpreter.world import World
from kopt.validation.options import Options
from kopt.walk import walk

#: Lanes of blocks that a run may compute, and what an operation counts beside its own.
_LANES, _STEP = 1 << 27, 1 << 10
#: How many ranks run a module that does not say.
_RANKS = 2


class NotRun(Exception):
    """The interpreter does not run the module, for a reason that is no mistake of a pass."""


@dataclass(frozen=True)
class Observed:
    """What a caller sees of a function: how many results it has, and which arguments it writes."""

    results: int
    written: tuple[int, ...]
    types: tuple[Attribute, ...]
    inputs: tuple[Attribute, ...]

    @classmethod
    def of(cls, module: ModuleOp, entry: str | None) -> Observed:
        """The shape of a module's function."""
        func = entry_function(module, entry)
        written = written_arguments(func)
        outputs = tuple(func.function_type.outputs.data)
        return cls(
            len(outputs),
            tuple(arg.index for arg in written),
            (*outputs, *(arg.type for arg in written)),
            tuple(func.function_type.inputs.data),
        )

    def name(self, number: int) -> str:
        """What a caller calls the ``number``-th value: results come first, then the arguments that are written."""
        return f"result {number}" if number < self.results else f"argument {self.written[number - self.results]}"

    def element(self, number: int) -> Attribute:
        """The type of its elements."""
        type = self.types[number]
        assert isinstance(type, MemRefType)
        return type.element_type


@dataclass(frozen=True)
class Conditions:
    """How a module is run: the seed of what has no order, what is undefined, whether masks are there, loads reach
    beyond their arrays, and floats are exact numbers.
    """

    seed: int = 0
    poison: float | None = None
    masked: bool = False
    reads_beyond: bool = False
    exact: bool = False
    ranks: int = 0
    order: int | None = None
    forgets: bool = False

    @classmethod
    def of(cls, options: Options) -> Conditions:
        """What is asked for."""
        return cls(options.seed, None, options.masked, options.beyond, options.exact, options.ranks)


def after_pass(how: Conditions, pass_: ModulePass) -> Conditions:
    """How a module is run once a pass has been over it."""
    beyond = how.reads_beyond or getattr(pass_, "reads_beyond", False)
    forgets = how.forgets or getattr(pass_, "forgets_arguments", False)
    return replace(how, masked=how.masked or pass_.name == "insert-masks", reads_beyond=beyond, forgets=forgets)


def observe(
    module: ModuleOp, entry: str | None, shape: Observed, arrays: Sequence[np.ndarray], how: Conditions
) -> list[np.ndarray]:
    """The results of a run, then the final values of the arguments that ``shape`` says are written.

    Of several ranks, each is an array of all ranks'. Raises `NotRun` for what the interpreter has no meaning of,
    `KoptError` for a run that fails.
    """
    count = ranks_of(module, how.ranks)
    try:
        with poisoned(how.poison), exact(how.exact):
            if count is None:
                return _run(module, entry, shape, arrays, machine_of(module, how), how.forgets)
            return _run_ranks(module, entry, shape, arrays, how, count)
    except UnsupportedError as error:
        raise NotRun(error.message) from error


class _Bounded(Machine):
    """A machine that gives up after `_LANES` lanes: validation is a matter of seconds."""

    lanes = 0

    def execute(self, op: Operation) -> None:
        self.lanes += sum((math.prod(r.type.shape) for r in op.results if isinstance(r.type, TileType)), _STEP)
        if self.lanes > _LANES:
            raise UnsupportedError(f"a run computes more than {_LANES:,} lanes: take smaller arrays")
        super().execute(op)


def machine_of(module: ModuleOp, how: Conditions) -> Machine:
    """A machine that runs a module."""
    machine = _Bounded(module, HANDLERS, seed=how.seed, masked=how.masked)
    machine.reads_beyond = how.reads_beyond
    machine.order = None if how.order is None else np.random.default_rng(how.order)
    return machine


def _run(
    module: ModuleOp,
    entry: str | None,
    shape: Observed,
    arrays: Sequence[np.ndarray],
    machine: Machine,
    forgets: bool,
) -> list[np.ndarray]:
    func = entry_function(module, entry)
    mine = shared_copies(arrays)
    check_arguments(func, mine)
    found = list(machine.call(func, mine))
    return [np.array(value) for value in _seen(func, shape, found, mine, forgets)]


def _run_ranks(
    module: ModuleOp, entry: str | None, shape: Observed, arrays: Sequence[np.ndarray], how: Conditions, count: int
) -> list[np.ndarray]:
    """Every rank has the arguments, floats moved by its number."""
    world = World(count, how.seed)
    programs = []
    for rank in range(count):
        machine = machine_of(module, replace(how, seed=how.seed + rank))
        machine.world, machine.rank = world, rank
        world.machines.append(machine)
        moved = [np.roll(array, rank) if array.dtype.kind == "f" or how.exact else array for array in arrays]
        programs.append(partial(_run, module, entry, shape, moved, machine, how.forgets))
    return [np.stack(values) for values in zip(*world.run(programs), strict=True)]


def ranks_of(module: ModuleOp, wanted: int) -> int | None:
    """How many ranks run a module, None for one alone: what its shapes and barriers say, else what is wanted."""
    ops = [op for op in walk(module) if op.name.startswith("symm.")]
    if not ops:
        return None
    for op in ops:
        if isinstance(op, symm.BarrierOp) and op.ranks is not None:
            return op.ranks.value.data
        if isinstance(op, symm.AllGatherOp | symm.ReduceScatterOp | symm.AllGatherOutOp | symm.ReduceScatterOutOp):
            types = [value.type for value in (*op.operands, *op.results)]
            sizes = sorted(type.get_shape()[0] for type in types if isinstance(type, MemRefType))
            return max(1, sizes[-1] // max(1, sizes[0]))
    return wanted or _RANKS


def _seen(
    func: FuncOp, shape: Observed, found: list[np.ndarray], arrays: list[np.ndarray], forgets: bool
) -> list[np.ndarray]:
    """A function may give its written arguments back, or leave them where they are."""
    if len(found) >= shape.results + len(shape.written):
        return found[: shape.results + len(shape.written)]
    if len(found) != shape.results:
        raise KoptError(f"'{func.sym_name.data}' gives {len(found)} results, and gave {shape.results}")
    return found if forgets else [*found, *(arrays[position] for position in shape.written)]


def shared_copies(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Copies of arrays, of which those that are one stay one."""
    copies: dict[int, np.ndarray] = {}
    return [copies.setdefault(id(array), array.copy()) for array in arrays]
