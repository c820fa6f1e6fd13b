"""Run by `test_meshes` in a process with four CPU devices: kernels in ``jax.shard_map``, and how far they are off."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
from kernels import scaled, softmax  # beside this script

MESH = Mesh(np.array(jax.devices()), ("d",))
SPLIT, WHOLE = PartitionSpec("d"), PartitionSpec()
X = jax.random.normal(jax.random.key(0), (32, 12))
WEIGHT = jnp.linspace(1, 2, 12)


def loss_of_part(x, weight):
    return jax.lax.psum((scaled(softmax(x), weight) ** 2).sum(), "d")


def loss_of_whole(x, weight):
    return (scaled(softmax(x), weight) ** 2).sum()


def plain(x, weight):
    return ((jax.nn.softmax(x, -1) * weight) ** 2).sum()


def off(got, expected):
    return max(
        float(jnp.abs(a - b).max()) for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    )


def of_explicit_axes() -> dict[str, float]:
    """Calls where types of arrays name a mesh: of wholes, of a batch that is split, of parts of one axis of two."""
    grown = jax.make_mesh((2, 2), ("d", "e"), axis_types=(AxisType.Explicit,) * 2)
    x, batch, expected = jax.device_put(X, NamedSharding(grown, WHOLE)), X.reshape(4, 8, 12), jax.nn.softmax(X, -1)
    slopes = jax.grad(plain, (0, 1))(X, WEIGHT)
    with jax.set_mesh(grown):
        of_items = jax.jit(jax.vmap(softmax))(jax.device_put(batch, NamedSharding(grown, SPLIT)))
        parts = jax.shard_map(softmax, in_specs=SPLIT, out_specs=SPLIT, axis_names={"d"})
        assert str(jax.typeof(of_items)) == "float32[4@d,8,12]"
        return {
            "whole": off([softmax(x), jax.jit(softmax)(x)], [expected] * 2),
            "batch": off(of_items, expected.reshape(batch.shape)),
            "parts of one axis": off(jax.jit(parts)(jax.device_put(X, NamedSharding(grown, SPLIT))), expected),
            "gradient of wholes": off(jax.jit(jax.grad(loss_of_whole, (0, 1)))(x, WEIGHT), slopes),
        }


def main() -> None:
    parts = jax.jit(jax.shard_map(softmax, mesh=MESH, in_specs=SPLIT, out_specs=SPLIT))
    whole = jax.shard_map(softmax, mesh=MESH, in_specs=WHOLE, out_specs=WHOLE)
    loss = jax.shard_map(loss_of_part, mesh=MESH, in_specs=(SPLIT, WHOLE), out_specs=WHOLE)
    x, expected = jax.device_put(X, NamedSharding(MESH, SPLIT)), jax.nn.softmax(X, -1)
    with jax.set_mesh(Mesh(MESH.devices, ("d",), axis_types=(AxisType.Auto,))):
        under_a_mesh = off(parts(x), expected)
    found = {
        "parts": off(parts(x), expected),
        "under a mesh": under_a_mesh,
        "the same on all devices": off(jax.jit(whole)(X), expected),
        "gradient": off(jax.jit(jax.grad(loss, (0, 1)))(x, WEIGHT), jax.grad(plain, (0, 1))(X, WEIGHT)),
        **of_explicit_axes(),
    }
    assert parts(x).sharding.is_equivalent_to(NamedSharding(MESH, SPLIT), 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
