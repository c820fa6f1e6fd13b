"""concat_rows: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def concat_rows_0_kernel(x_ref, out_ref):
    rows = pl.program_id(0)
    rows_begin = rows * 32
    x = x_ref[...]  # concat.py:35
    inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) < 75 - rows_begin  # concat.py:35
    inside_2 = jnp.where(inside, jnp.full((32, 128), 1, jnp.int32), 0) != 0  # concat.py:35
    old = out_ref[...]  # concat.py:35
    new = jnp.where(inside_2, x, old)  # concat.py:35
    out_ref[...] = new  # concat.py:35


def concat_rows_1_kernel(y_ref, out_ref):
    y = y_ref[...]  # concat.py:37
    out_ref[...] = y  # concat.py:37


def concat_rows(x, y):
    out = pl.pallas_call(  # concat.py:34
        concat_rows_0_kernel,
        grid=(3, 3),
        in_specs=[pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols))],
        out_specs=pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((125, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="concat_rows_0",
    )(x)
    v = pl.pallas_call(  # concat.py:36
        concat_rows_1_kernel,
        grid=(2, 3),
        in_specs=[pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols))],
        out_specs=pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((50, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="concat_rows_1",
    )(y)
    out_2 = out.at[75:125, :333].set(v)  # concat.py:36
    return out_2
