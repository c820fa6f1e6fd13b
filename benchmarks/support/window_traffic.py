"""Bytes that the windows of hand-written Pallas kernels move, by their own index maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.extend import core

from kopt.runtime.pallas_interpret import on_abstract_tpu
from kopt.specs import TensorSpec
from kopt.targets.chips import TpuChip

#: Memories whose operands Pallas moves block by block; its choice where none is named is VMEM.
_WINDOWS = ("default", "vmem")


def windows_moved(
    function: Callable[..., Any], arguments: Sequence[TensorSpec], chip: TpuChip, values: Mapping[int, np.ndarray]
) -> int:
    """The least bytes that a function's kernels move: a window moves where its index changes from cell to cell.

    ``values`` are what arguments hold, by their numbers. Copies that a kernel starts by itself, windows whose index
    follows from other numbers in memory, and kernels in loops are not known, and count as nothing.
    """
    specs = [jax.ShapeDtypeStruct(one.shape, one.dtype.jax) for one in arguments]
    known = {number: jnp.asarray(value, specs[number].dtype) for number, value in values.items()}
    rest = [spec for number, spec in enumerate(specs) if number not in known]

    def at_values(*arrays: Any) -> Any:
        others = iter(arrays)
        return function(*(known[number] if number in known else next(others) for number in range(len(specs))))

    traced = jax.make_jaxpr(on_abstract_tpu(at_values, chip))(*rest)
    held = dict(zip(traced.jaxpr.constvars, traced.consts, strict=True))
    return sum(_moved(call.params["grid_mapping"], scalars) for call, scalars in _calls(traced.jaxpr, held))


def _calls(jaxpr: core.Jaxpr, held: Mapping[Any, Any]) -> Iterator[tuple[Any, list[Any]]]:
    """The calls of kernels that run once, also those inside of `jax.jit`, with what is known of their scalars."""
    held = {**held}
    for eqn in jaxpr.eqns:
        operands = [operand.val if isinstance(operand, core.Literal) else held.get(operand) for operand in eqn.invars]
        if eqn.primitive.name == "pallas_call":
            yield eqn, operands[: eqn.params["grid_mapping"].num_index_operands]
        elif all(operand is not None for operand in operands):
            found = eqn.primitive.bind(*operands, **eqn.params)
            held.update(zip(eqn.outvars, found if eqn.primitive.multiple_results else [found], strict=True))
        elif eqn.primitive.name in ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call"):
            inner = eqn.params.get("jaxpr", eqn.params.get("call_jaxpr"))
            consts = zip(inner.jaxpr.constvars, inner.consts, strict=True)
            yield from _calls(inner.jaxpr, {**dict(consts), **dict(zip(inner.jaxpr.invars, operands, strict=True))})


def _moved(mapping: Any, scalars: Sequence[Any]) -> int:
    if not all(isinstance(extent, int) and extent for extent in mapping.grid):
        return 0
    cells = np.indices(mapping.grid).reshape(len(mapping.grid), -1)
    return sum(_moved_by(window, cells, scalars) for window in mapping.block_mappings)


def _moved_by(window: Any, cells: np.ndarray, scalars: Sequence[Any]) -> int:
    block, index_map = window.transformed_block_aval, window.index_map_jaxpr
    memory = index_map.jaxpr.invars[len(cells) :]
    used = {id(operand) for eqn in index_map.jaxpr.eqns for operand in eqn.invars}
    unknown = any(id(one) in used and value is None for one, value in zip(memory, scalars, strict=True))
    if str(block.memory_space) not in _WINDOWS or unknown:
        return 0
    numbers = [jnp.asarray(row, jnp.int32) for row in cells]
    held = [0 if value is None else value for value in scalars]
    found = jax.vmap(lambda *cell: window.compute_start_indices_interpret(cell, *held))(*numbers)
    places = np.stack([np.broadcast_to(one, cells.shape[1]) for one in found])
    moves = 1 + int(np.any(np.diff(places, axis=1), axis=0).sum())
    return moves * math.prod(block.shape) * window.array_aval.dtype.itemsize
