"""sum_middle: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def sum_middle_kernel(x_ref, out_ref):
    x = x_ref[...]  # sums.py:32
    out_ref[...] = jnp.sum(x, axis=1)  # sums.py:32


def sum_middle(x):
    out = pl.pallas_call(  # sums.py:31
        sum_middle_kernel,
        grid=(3, 3),
        in_specs=[pl.BlockSpec((8, 21, 128), lambda rows, cols: (rows, 0, cols))],
        out_specs=pl.BlockSpec((8, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((19, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="sum_middle",
    )(x)
    return out
