"""A traced program on virtual devices, beside JAX: prints how far each way is off, and what is refused.

The environment says how many devices there are.
"""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.distributed._functional_collectives as functional
from jax.sharding import PartitionSpec as P

import kopt
import kopt.language as hl

ROWS, WIDTH, HIDDEN = 24, 40, 36


@kopt.kernel
def scaled_relu(x, scale: float):
    out = torch.empty_like(x)
    for tile in hl.tile(x.shape):
        out[tile] = torch.relu(x[tile]) * scale
    return out


def feed_forward(x, up, down, group):
    return x + functional.all_reduce(scaled_relu(x @ up, 0.5) @ down, "sum", group)


def wanted(x, up, down):
    return x + (jnp.maximum(x @ up, 0) * 0.5) @ down


def over(mesh, program):
    """The program on all devices: each has a slice of both weights."""
    one = lambda *arrays: program(*arrays, "tp")  # noqa: E731
    specs = (P(), P(None, "tp"), P("tp"))
    return jax.jit(jax.shard_map(one, mesh=mesh, in_specs=specs, out_specs=P(), check_vma=False))


def main() -> None:
    ranks = jax.device_count()
    mesh = jax.make_mesh((ranks,), ("tp",), axis_types=(jax.sharding.AxisType.Auto,))
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = ((ROWS, WIDTH), (WIDTH, ranks * HIDDEN), (ranks * HIDDEN, WIDTH))
    arrays = [jax.random.normal(key, shape) / 4 for key, shape in zip(keys, shapes, strict=True)]
    off = {}
    for how, target in (("library", None), ("ring", "pallas:strict"), ("one_shot", "pallas:strict")):
        program = kopt.program(feed_forward, target=target, all_reduce=how)
        got = over(mesh, program)(*arrays)
        off[how] = float(np.abs(np.asarray(got - wanted(*arrays))).max())
    try:
        program(arrays[0], arrays[1][:, :HIDDEN], arrays[2][:HIDDEN], "tp")
    except kopt.ConfigError as error:
        off["outside"] = error.message
    print(json.dumps(off))


if __name__ == "__main__":
    main()
