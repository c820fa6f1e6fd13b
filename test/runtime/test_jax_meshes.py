"""Kernels on ``pallas:interpret`` called where JAX has a mesh: its parts are on CPUs, and Pallas must see a chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.sharding import AbstractMesh, AxisType, Mesh, PartitionSpec, use_abstract_mesh

import kopt
import kopt.language as hl

X = jnp.arange(12.0).reshape(3, 4)


@kopt.kernel
def doubled(x):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * 2
    return out


def sharded(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    mesh, split = Mesh(np.array(jax.devices()[:1]), ("d",)), PartitionSpec("d")
    return jax.shard_map(function, mesh=mesh, in_specs=split, out_specs=split, **options)


PARTS: dict[str, Callable[[Any], Any]] = {
    "shard_map": lambda kernel: sharded(kernel)(X),
    "shard_map in jit": lambda kernel: jax.jit(sharded(kernel, check_vma=False))(X),
    "checked shard_map in jit": lambda kernel: jax.jit(sharded(kernel))(X),
    "jit in shard_map": lambda kernel: sharded(jax.jit(kernel))(X),
    "vmap in shard_map": lambda kernel: sharded(lambda x: jax.vmap(kernel)(x[None])[0])(X),
    "constants": lambda kernel: sharded(lambda x: x * 0 + kernel(X))(X),
    "pmap": lambda kernel: jax.pmap(kernel)(X[None])[0],
    "pmap of what is compiled": lambda kernel: jax.pmap(kernel.lower(X).compile())(X[None])[0],
}


@pytest.mark.parametrize("call", PARTS.values(), ids=PARTS)
def test_parts_of_arrays(call: Callable[[Any], Any]) -> None:
    assert jnp.array_equal(call(doubled.on("pallas:interpret")), X * 2)


@pytest.mark.parametrize("wrap", [lambda kernel: kernel, jax.jit], ids=["called", "jit"])
def test_a_mesh_that_is_set(wrap: Callable[..., Any]) -> None:
    """Of any size, with axes of any type."""
    run = wrap(doubled.on("pallas:interpret"))
    with use_abstract_mesh(AbstractMesh((2,), ("d",), (AxisType.Auto,))):
        assert jnp.array_equal(run(X), X * 2)
    explicit = AbstractMesh((2,), ("d",), (AxisType.Explicit,))
    with use_abstract_mesh(explicit), pytest.raises(kopt.KoptError, match="under a mesh with explicit axes"):
        run(X)
