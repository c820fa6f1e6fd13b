"""exp: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def exp_kernel(x_ref, out_ref):
    x = x_ref[...]  # exp.py:13
    out_ref[...] = jnp.exp(x)  # exp.py:13


def exp(x):
    out = pl.pallas_call(  # exp.py:12
        exp_kernel,
        grid=(3, 3),
        in_specs=[pl.BlockSpec((32, 128), lambda tile, i: (tile, i))],
        out_specs=pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="exp",
    )(x)
    return out
