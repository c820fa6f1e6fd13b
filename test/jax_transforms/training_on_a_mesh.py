"""Run by `test_meshes` in a process with four CPU devices: the transformer block of kernels trains as plain JAX does.

Sequences are split over one axis of the mesh; heads and hidden features over the other.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

from examples import transformer

STEPS, RATE = 20, 0.5
MESH = jax.make_mesh((2, 2), ("data", "model"))
#: Where parameters are split; a sum over ``model`` follows each product by rows.
PLACES = {
    "before": P(),
    "qkv": P(None, "model"),
    "out": P("model"),
    "between": P(),
    "gate": P(None, "model"),
    "up": P(None, "model"),
    "down": P("model"),
    "words": P(),
}
SPECS = PLACES, P("data"), P(), P(), P("data")


def plain(parameters: Any, x: Any, cos: Any, sin: Any, labels: Any) -> Any:
    """`transformer.block` of one sequence, by JAX alone."""

    def normal(x: Any, weight: Any) -> Any:
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

    def turn(heads: Any) -> Any:
        first, second = jnp.split(heads, 2, -1)
        return heads * cos + jnp.concatenate([-second, first], -1) * sin

    q, k, v = jnp.einsum("lw,phwd->plhd", normal(x, parameters["before"]), parameters["qkv"])
    turn = jax.vmap(turn, 1, 1)
    attended = jax.nn.dot_product_attention(turn(q), turn(k), v, is_causal=True)
    x = x + attended.reshape(len(x), -1) @ parameters["out"]
    rows = normal(x, parameters["between"])
    x = x + (jax.nn.silu(rows @ parameters["gate"]) * (rows @ parameters["up"])) @ parameters["down"]
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ parameters["words"]), labels[:, None], 1)[:, 0]


def plain_loss(parameters: Any, xs: Any, cos: Any, sin: Any, labels: Any) -> Any:
    return jax.vmap(partial(plain, parameters, cos=cos, sin=sin))(xs, labels=labels).mean()


@partial(jax.shard_map, mesh=MESH, in_specs=SPECS, out_specs=P())
def loss(parameters: Any, xs: Any, cos: Any, sin: Any, labels: Any) -> Any:
    whole = partial(jax.lax.psum, axis_name="model")
    losses = transformer.block(parameters, xs[0], cos, sin, labels[0], whole)  # each device has one sequence
    return jax.lax.pmean(losses.mean(), "data")


def trained(loss: Any, parameters: Any, arguments: Any) -> tuple[Any, Any]:
    """The loss of every step, and the parameters after the last."""

    def step(parameters: Any, _: Any) -> tuple[Any, Any]:
        value, slopes = jax.value_and_grad(loss)(parameters, *arguments)
        return jax.tree.map(lambda p, g: p - RATE * g, parameters, slopes), value

    parameters, losses = jax.jit(lambda p: jax.lax.scan(step, p, length=STEPS))(parameters)
    return losses, parameters


def main() -> None:
    parameters, _, cos, sin, _ = jax.tree.map(jnp.asarray, jax.tree.map(np.asarray, transformer.inputs()))
    xs = jax.random.normal(jax.random.key(0), (2, 16, 32))
    labels = jax.random.randint(jax.random.key(1), (2, 16), 0, 40)
    arguments = xs, cos, sin, labels
    placed = [jax.device_put(v, NamedSharding(MESH, s)) for v, s in zip(arguments, SPECS[1:], strict=True)]
    split = {name: jax.device_put(v, NamedSharding(MESH, PLACES[name])) for name, v in parameters.items()}
    losses, found = trained(loss, split, placed)
    expected, wanted = trained(plain_loss, parameters, arguments)
    assert losses[-1] < losses[0] / 2, losses
    off = jax.tree.map(lambda a, b: float(jnp.abs(a - b).max()), (losses, found), (expected, wanted))
    print(json.dumps({"losses": off[0], **off[1]}))


if __name__ == "__main__":
    main()
