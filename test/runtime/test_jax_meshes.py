"""Kernels on ``pallas:interpret`` called where JAX has a mesh: its parts are on CPUs, and Pallas must see a chip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec, use_abstract_mesh

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
    """Of any size."""
    run = wrap(doubled.on("pallas:interpret"))
    with use_abstract_mesh(AbstractMesh((2,), ("d",), (AxisType.Auto,))):
        assert jnp.array_equal(run(X), X * 2)


EXPLICIT = jax.make_mesh((1,), ("d",), axis_types=(AxisType.Explicit,), devices=jax.devices()[:1])
WHOLE = NamedSharding(EXPLICIT, PartitionSpec())
EXPLICIT_CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "called": lambda kernel, x: kernel(x),
    "jit": lambda kernel, x: jax.jit(kernel)(x),
    "vmap": lambda kernel, x: jax.vmap(kernel)(x[None])[0],
    "compiled": lambda kernel, x: kernel.lower(x).compile()(x),
}


@pytest.mark.parametrize("call", EXPLICIT_CALLS.values(), ids=EXPLICIT_CALLS)
def test_a_mesh_with_explicit_axes(call: Callable[[Any, Any], Any]) -> None:
    """That is set, and that the types of arrays name where none is."""
    kernel = doubled.on("pallas:interpret")
    assert jnp.array_equal(call(kernel, jax.device_put(X, WHOLE)), X * 2)
    with jax.set_mesh(EXPLICIT):
        for x in (X, jax.device_put(X, WHOLE)):
            assert jnp.array_equal(call(kernel, x), X * 2)


@pytest.mark.parametrize("wrap", [lambda kernel: kernel, jax.jit], ids=["called", "jit"])
def test_arrays_that_explicit_axes_split(wrap: Callable[..., Any]) -> None:
    """Which part of the result a device has, nobody says."""
    x = jax.device_put(X, NamedSharding(EXPLICIT, PartitionSpec("d")))
    with jax.set_mesh(EXPLICIT):
        with pytest.raises(kopt.ArgumentError, match=r"float32\[3@d,4\], split over a mesh") as error:
            wrap(doubled.on("pallas:interpret"))(x)
        split = jax.sharding.auto_axes(wrap(doubled.on("pallas:interpret")), out_sharding=PartitionSpec("d"))(x)
    assert error.value.location is not None and "jax.shard_map" in str(error.value)
    assert jnp.array_equal(split, X * 2) and jax.typeof(split) == jax.typeof(x)
