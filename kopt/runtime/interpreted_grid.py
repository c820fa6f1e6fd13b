"""``pl.pallas_call`` for interpreters: a loop over the cells of a grid that costs what the cells cost.

JAX's own loop writes the blocks of inputs back, so that XLA copies whole arrays for each cell. Here inputs stay outside
of what the loop carries, and each cell is a call of JAX's interpreter without a grid, on blocks alone. What memory
holds before it is written, cells and blocks beyond the end of an array are as JAX has them.
"""

# ruff: noqa: TID253 - only `kopt.runtime.pallas_interpret` imports this module, for a module that runs

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

#: The numbers of the cell whose kernel is being traced, and the grid's extents; None inside of ``emit_pipeline``.
_cell: ContextVar[tuple[Sequence[Any], Sequence[int]] | None] = ContextVar("cell", default=None)

#: The array of the `Stop` of the function that is being traced, where it has one.
_stopped: ContextVar[Any] = ContextVar("stopped", default=None)

#: Runs ``cell(number, carried)`` for each number below a count, in order.
Loop = Callable[[int, Callable[[Any, Any], Any], Any], Any]


def program_id(axis: int) -> Any:
    """``pl.program_id`` of the cell that is being traced."""
    cell = _cell.get()
    return pl.program_id(axis) if cell is None else cell[0][axis]


def num_programs(axis: int) -> Any:
    """``pl.num_programs`` of the grid that is being traced."""
    cell = _cell.get()
    return pl.num_programs(axis) if cell is None else cell[1][axis]


def emit_pipeline(body: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """``pltpu.emit_pipeline``, whose body asks for the numbers of its own grid."""

    def own_numbers(*refs: Any) -> Any:
        with _entered(None):
            return body(*refs)

    return pltpu.emit_pipeline(own_numbers, **options)


def each_in_turn(count: int, cell: Callable[[Any, Any], Any], carried: Any) -> Any:
    """The loop over cells; inside of a `stoppable` function it ends where the call was stopped."""
    stopped = _stopped.get()
    if stopped is None:
        return lax.fori_loop(np.int32(0), np.int32(count), cell, carried)

    def goes_on(state: tuple[Any, Any]) -> Any:
        return (state[0] < count) & (stopped[0] == 0)

    return lax.while_loop(goes_on, lambda state: (state[0] + 1, cell(*state)), (np.int32(0), carried))[1]


class Stop:
    """What a call that waits for its end is stopped by, from outside: one element that XLA and NumPy share.

    XLA reads it before each cell. After a stop the results mean nothing.
    """

    def __init__(self) -> None:
        room = np.zeros(32, np.int32)  # XLA shares what begins at a multiple of 64 bytes, and copies the rest
        begin = -room.ctypes.data % 64 // room.itemsize
        self._element = room[begin : begin + 1]
        # The first call may come from within a trace, which must not keep it. A call of arrays that are on several
        # devices copies what is bound to none, and such a call ends by itself.
        with jax.ensure_compile_time_eval(), jax.default_device(jax.devices("cpu")[0]):
            self.array = jax.device_put(self._element)

    def stop(self) -> None:
        """Ends the call after the cell that runs now."""
        self._element[0] = 1


def stoppable(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of a `Stop`'s array and its own arguments."""

    def with_stop(stopped: Any, *args: Any) -> Any:
        token = _stopped.set(stopped)
        try:
            return function(*args)
        finally:
            _stopped.reset(token)

    with_stop.__name__ = function.__name__
    return with_stop


def pallas_call(loop: Loop, kernel: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """``pl.pallas_call`` of the arguments that emitted modules give it, interpreted by ``loop``."""
    spec = options.get("grid_spec")
    given = vars(spec) if spec is not None else options
    grid = given.get("grid", ())
    call = GridCall(
        kernel=kernel,
        grid=tuple(grid) if isinstance(grid, tuple) else (grid,),
        prefetched=getattr(spec, "num_scalar_prefetch", 0),
        in_specs=_listed(given["in_specs"]) if given.get("in_specs") is not None else None,
        out_specs=_listed(given["out_specs"]) if given.get("out_specs") is not None else None,
        scratch=_listed(given.get("scratch_shapes") or []),
        results=_listed(options["out_shape"]),
        aliases=dict(options.get("input_output_aliases") or {}),
        name=options.get("name"),
    )
    single = not isinstance(options["out_shape"], (list, tuple))

    def run(*operands: Any) -> Any:
        results = call.run(loop, [jnp.asarray(operand) for operand in operands])
        return results[0] if single else results

    return run


@dataclass(frozen=True)
class SeenBlock:
    """The block of an array that each cell sees; ``spec`` is Pallas's, None for the whole array."""

    spec: Any
    shape: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int | None, ...]:
        """The block's extents; None for a dimension of one element that the kernel does not see."""
        return tuple(getattr(self.spec, "block_shape", None) or self.shape)

    @cached_property
    def block(self) -> tuple[int, ...]:
        """The block's extents in the array."""
        return tuple(1 if size is None else size for size in self.sizes)

    @cached_property
    def padded(self) -> tuple[int, ...]:
        """The array's extents rounded up to whole blocks."""
        return tuple(-(-n // size) * size for n, size in zip(self.shape, self.block, strict=True))

    @property
    def seen(self) -> Any:
        """The spec of the block in the kernel of one cell."""
        return pl.BlockSpec(memory_space=getattr(self.spec, "memory_space", None))

    def start(self, numbers: Sequence[Any], scalars: Sequence[Any]) -> list[Any] | None:
        """Where a cell's block begins; None where it is the array."""
        if self.block == self.padded:
            return None
        index = self.spec.index_map(*numbers, *scalars)
        index = index if isinstance(index, (tuple, list)) else (index,)
        return [jnp.asarray(i * size, jnp.int32) for i, size in zip(index, self.block, strict=True)]

    def pad(self, array: Any) -> Any:
        """The array in whole blocks."""
        if self.padded == self.shape:
            return array
        widths = [(0, m - n) for n, m in zip(self.shape, self.padded, strict=True)]
        return jnp.pad(array, widths, constant_values=_unwritten((), array.dtype))

    def crop(self, array: Any) -> Any:
        """The array without what `pad` added."""
        return array if self.padded == self.shape else lax.slice(array, (0,) * array.ndim, self.shape)

    def get(self, array: Any, start: list[Any] | None) -> Any:
        """A cell's block."""
        block = array if start is None else lax.dynamic_slice(array, start, self.block)
        return lax.squeeze(block, [dim for dim, size in enumerate(self.sizes) if size is None])

    def put(self, array: Any, block: Any, start: list[Any] | None) -> Any:
        """The array with a cell's block."""
        block = block.reshape(self.block)
        return block if start is None else lax.dynamic_update_slice(array, block, start)


@dataclass(frozen=True)
class GridCall:
    """One ``pallas_call``: the kernel, the grid and what each cell sees of the arrays."""

    kernel: Callable[..., Any]
    grid: tuple[int, ...]
    prefetched: int
    in_specs: list[Any] | None
    out_specs: list[Any] | None
    scratch: list[Any]
    results: list[Any]
    aliases: dict[int, int]
    name: str | None

    def run(self, loop: Loop, operands: list[Any]) -> list[Any]:
        """The results."""
        scalars, inputs = operands[: self.prefetched], operands[self.prefetched :]
        reads = [SeenBlock(s, a.shape) for s, a in zip(self.in_specs or [None] * len(inputs), inputs, strict=True)]
        specs = self.out_specs or [None] * len(self.results)
        writes = [SeenBlock(s, tuple(r.shape)) for s, r in zip(specs, self.results, strict=True)]
        taken = {result: operands[operand] for operand, result in self.aliases.items()}
        begun = [taken.get(i, _unwritten(r.shape, r.dtype)) for i, r in enumerate(self.results)]
        outputs = [window.pad(array) for window, array in zip(writes, begun, strict=True)]
        padded = [window.pad(array) for window, array in zip(reads, inputs, strict=True)]
        memory = [_unwritten(one.shape, one.dtype) for one in self.scratch if not _is_semaphore(one)]

        def cell(number: Any, carried: tuple[list[Any], list[Any]]) -> tuple[list[Any], list[Any]]:
            outputs, memory = carried
            numbers = _numbers(number, self.grid)
            at = [window.start(numbers, scalars) for window in [*reads, *writes]]
            blocks = [w.get(a, s) for w, a, s in zip([*reads, *writes], [*padded, *outputs], at, strict=True)]
            seen = [window.seen for window in [*reads, *writes]]
            found = self._one_cell(numbers, scalars, blocks, seen, memory)
            ends = zip(writes, outputs, found, at[len(reads) :], strict=False)
            return [w.put(a, b, s) for w, a, b, s in ends], list(found[len(writes) :])

        outputs, _ = loop(prod(self.grid), cell, (outputs, memory))
        return [window.crop(array) for window, array in zip(writes, outputs, strict=True)]

    def _one_cell(
        self, numbers: list[Any], scalars: list[Any], blocks: list[Any], seen: list[Any], memory: list[Any]
    ) -> list[Any]:
        """What the cell leaves in the blocks of outputs and in scratch memory, which begin as what is given."""
        ids = jnp.stack(numbers) if numbers else jnp.zeros(1, jnp.int32)
        written = [*blocks[len(blocks) - len(self.results) :], *memory]
        first = 1 + len(scalars) + len(blocks) - len(self.results)
        scratch = [pl.BlockSpec(memory_space=one.memory_space) for one in self.scratch if not _is_semaphore(one)]
        call = pl.pallas_call(
            lambda *refs: self._enter(first, refs),
            in_specs=[*[pl.BlockSpec(memory_space=pltpu.SMEM)] * (1 + len(scalars)), *seen, *scratch],
            out_specs=[*seen[len(blocks) - len(self.results) :], *scratch],
            out_shape=[jax.ShapeDtypeStruct(array.shape, array.dtype) for array in written],
            scratch_shapes=[one for one in self.scratch if _is_semaphore(one)],
            input_output_aliases={first + i: i for i in range(len(written))},
            interpret=True,
            name=self.name,
        )
        return call(ids, *scalars, *blocks, *memory)

    def _enter(self, first: int, refs: Sequence[Any]) -> None:
        """Traces the kernel; ``refs`` are a cell's numbers, what is only read, what is written twice, semaphores."""
        ids, read = refs[0], refs[1:first]
        semaphores = [one for one in self.scratch if _is_semaphore(one)]
        count = len(self.results) + len(self.scratch) - len(semaphores)
        written, others = refs[first + count : first + 2 * count], iter(refs[first + 2 * count :])
        memory = iter(written[len(self.results) :])
        scratch = [next(others if _is_semaphore(one) else memory) for one in self.scratch]
        numbers = [ids[dim] for dim in range(len(self.grid))]
        with _entered((numbers, self.grid)):
            self.kernel(*read, *written[: len(self.results)], *scratch)


@contextlib.contextmanager
def _entered(cell: tuple[Sequence[Any], Sequence[int]] | None) -> Iterator[None]:
    token = _cell.set(cell)
    try:
        yield
    finally:
        _cell.reset(token)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _is_semaphore(scratch: Any) -> bool:
    return scratch.memory_space == pltpu.MemorySpace.SEMAPHORE


def _numbers(number: Any, grid: Sequence[int]) -> list[Any]:
    """A cell's number along each dimension of the grid, the last the fastest."""
    found = []
    for extent in reversed(grid):
        found.append(lax.rem(number, np.int32(extent)))
        number = lax.div(number, np.int32(extent))
    return found[::-1]


def _unwritten(shape: Sequence[int], dtype: Any) -> Any:
    """What memory holds before it is written, as in JAX's interpreter."""
    if jnp.issubdtype(dtype, jnp.floating):
        return jnp.full(shape, jnp.nan, dtype)
    return jnp.full(shape, jnp.iinfo(dtype).min if jnp.issubdtype(dtype, jnp.integer) else False, dtype)


def substitutes(loop: Loop) -> dict[str, dict[str, Callable[..., Any]]]:
    """What stands for functions of Pallas in an emitted module that is interpreted, by the names of their modules."""
    return {
        pl.__name__: {
            "pallas_call": lambda kernel, **options: pallas_call(loop, kernel, **options),
            "program_id": program_id,
            "num_programs": num_programs,
        },
        pltpu.__name__: {"emit_pipeline": emit_pipeline},
    }
