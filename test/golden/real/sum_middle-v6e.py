"""sum_middle: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def sum_middle_kernel(x_ref, out_ref):
    x = x_ref[...]  # sums.py:32
    v = jnp.sum(jnp.transpose(x, (1, 0, 2)).astype(jnp.float32), axis=1)  # sums.py:32
    out_ref[...] = v.astype(jnp.bfloat16)  # sums.py:32


def sum_middle(x):
    x_2 = jnp.transpose(x, (1, 0, 2))  # sums.py:31
    out = pl.pallas_call(  # sums.py:31
        sum_middle_kernel,
        grid=(4, 5),
        in_specs=[pl.BlockSpec((100, 32, 512), lambda rows, cols: (0, rows, cols))],
        out_specs=pl.BlockSpec((32, 512), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((128, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=40501248),
        name="sum_middle",
    )(x_2)
    return out
