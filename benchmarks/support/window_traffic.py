"""Bytes that the windows of hand-written Pallas kernels move, by their own index maps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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


def windows_moved(function: Callable[..., Any], arguments: Sequence[TensorSpec], chip: TpuChip) -> int:
    """The least bytes that a function's kernels move: a window moves where its index changes from cell to cell.

    Copies that a kernel starts by itself, windows whose index follows from numbers in memory, and kernels in loops are
    not known, and count as nothing.
    """
    specs = [jax.ShapeDtypeStruct(one.shape, one.dtype.jax) for one in arguments]
    traced = jax.make_jaxpr(on_abstract_tpu(function, chip))(*specs)
    return sum(_moved(call.params["grid_mapping"]) for call in _calls(traced.jaxpr))


def _calls(jaxpr: core.Jaxpr) -> Iterator[Any]:
    """The calls of kernels that run once, also those inside of `jax.jit`."""
    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "pallas_call":
            yield eqn
        elif eqn.primitive.name in ("jit", "pjit", "closed_call", "custom_jvp_call", "custom_vjp_call"):
            yield from _calls(eqn.params.get("jaxpr", eqn.params.get("call_jaxpr")).jaxpr)


def _moved(mapping: Any) -> int:
    if not all(isinstance(extent, int) and extent for extent in mapping.grid):
        return 0
    cells = np.indices(mapping.grid).reshape(len(mapping.grid), -1)
    return sum(_moved_by(window, cells) for window in mapping.block_mappings)


def _moved_by(window: Any, cells: np.ndarray) -> int:
    block, index_map = window.transformed_block_aval, window.index_map_jaxpr
    memory = index_map.jaxpr.invars[len(cells) :]
    used = {id(operand) for eqn in index_map.jaxpr.eqns for operand in eqn.invars}
    if str(block.memory_space) not in _WINDOWS or any(id(one) in used for one in memory):
        return 0
    numbers = [jnp.asarray(row, jnp.int32) for row in cells]
    found = jax.vmap(lambda *cell: core.jaxpr_as_fun(index_map)(*cell, *(0 for _ in memory)))(*numbers)
    places = np.stack([np.broadcast_to(one, cells.shape[1]) for one in found])
    moves = 1 + int(np.any(np.diff(places, axis=1), axis=0).sum())
    return moves * math.prod(block.shape) * window.array_aval.dtype.itemsize
