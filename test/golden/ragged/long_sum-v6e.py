"""long_sum: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def long_sum_kernel(x_ref, out_ref):
    total = jnp.full((32, 1), 0.0, jnp.float32)  # sums.py:41

    def cols_body(cols, total_2):  # sums.py:42
        cols_begin = cols * 128  # sums.py:42
        x = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # sums.py:43
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # sums.py:43
        total_3 = total_2 + jnp.sum(jnp.where(inside, x, 0.0), axis=1).reshape((32, 1))  # sums.py:43
        return total_3

    total_4 = jax.lax.fori_loop(0, 3, cols_body, total, unroll=3)  # sums.py:42
    total_5 = total_4.reshape((32,))  # sums.py:42
    out_ref[0, :] = total_5  # sums.py:44


def long_sum(x):
    out = pl.pallas_call(  # sums.py:40
        long_sum_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((32, 384), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 1, 32), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="long_sum",
    )(x)
    out_2 = out.reshape((96,))[:75]  # sums.py:40
    return out_2
