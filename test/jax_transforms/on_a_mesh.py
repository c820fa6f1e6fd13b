"""Run by `test_meshes` in a process with four CPU devices: kernels in ``jax.shard_map``, and how far they are off."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from kernels import scaled, softmax  # beside this script

MESH = Mesh(np.array(jax.devices()), ("d",))
SPLIT, WHOLE = PartitionSpec("d"), PartitionSpec()
X = jax.random.normal(jax.random.key(0), (32, 12))
WEIGHT = jnp.linspace(1, 2, 12)


def loss_of_part(x, weight):
    return jax.lax.psum((scaled(softmax(x), weight) ** 2).sum(), "d")


def plain(x, weight):
    return ((jax.nn.softmax(x, -1) * weight) ** 2).sum()


def off(got, expected):
    return max(
        float(jnp.abs(a - b).max()) for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True)
    )


def main() -> None:
    parts = jax.jit(jax.shard_map(softmax, mesh=MESH, in_specs=SPLIT, out_specs=SPLIT))
    whole = jax.shard_map(softmax, mesh=MESH, in_specs=WHOLE, out_specs=WHOLE)
    loss = jax.shard_map(loss_of_part, mesh=MESH, in_specs=(SPLIT, WHOLE), out_specs=WHOLE)
    x, expected = jax.device_put(X, NamedSharding(MESH, SPLIT)), jax.nn.softmax(X, -1)
    with jax.set_mesh(Mesh(MESH.devices, ("d",), axis_types=(jax.sharding.AxisType.Auto,))):
        under_a_mesh = off(parts(x), expected)
    found = {
        "parts": off(parts(x), expected),
        "under a mesh": under_a_mesh,
        "the same on all devices": off(jax.jit(whole)(X), expected),
        "gradient": off(jax.jit(jax.grad(loss, (0, 1)))(x, WEIGHT), jax.grad(plain, (0, 1))(X, WEIGHT)),
    }
    assert parts(x).sharding.is_equivalent_to(NamedSharding(MESH, SPLIT), 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
