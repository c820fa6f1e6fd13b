"""geglu: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def geglu_kernel(gate_ref, up_ref, out_ref):
    gate = gate_ref[...]  # gated.py:27
    v = jnp.tanh((gate + gate * gate * gate * 0.044715) * 0.7978846) + 1.0  # gated.py:27
    opened = gate * 0.5 * v  # gated.py:27
    up = up_ref[...]  # gated.py:28
    out_ref[...] = opened * up  # gated.py:28


def geglu(gate, up):
    out = pl.pallas_call(  # gated.py:26
        geglu_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="geglu",
    )(gate, up)
    return out
