"""long_sum: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def long_sum_kernel(x_ref, out_ref):
    total = jnp.full((1024,), 0.0, jnp.float32)  # sums.py:41

    def cols_body(cols, total_2):  # sums.py:42
        cols_begin = cols * 512  # sums.py:42
        x = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 512), 512)]  # sums.py:43
        total_3 = total_2 + jnp.sum(x.astype(jnp.float32), axis=1)  # sums.py:43
        return total_3

    total_4 = jax.lax.fori_loop(0, 5, cols_body, total, unroll=5)  # sums.py:42
    out_ref[...] = total_4.astype(jnp.bfloat16)  # sums.py:44


def long_sum(x):
    out = pl.pallas_call(  # sums.py:40
        long_sum_kernel,
        grid=(4,),
        in_specs=[pl.BlockSpec((1024, 2560), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((1024,), lambda rows: (rows,)),
        out_shape=jax.ShapeDtypeStruct((4096,), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=33562624),
        name="long_sum",
    )(x)
    return out
