"""concat_rows: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def concat_rows_0_kernel(x_ref, out_ref):
    rows = pl.program_id(0)
    rows_begin = rows * 1024
    x = x_ref[...]  # concat.py:35
    inside = jax.lax.broadcasted_iota(jnp.int32, (1024, 1024), 1) < 2001 - rows_begin  # concat.py:35
    inside_2 = jnp.where(inside, jnp.full((1024, 1024), 1, jnp.int32), 0) != 0  # concat.py:35
    old = out_ref[...]  # concat.py:35
    new = jnp.where(inside_2, x, old)  # concat.py:35
    out_ref[...] = new  # concat.py:35


def concat_rows_1_kernel(y_ref, out_ref):
    y = y_ref[...]  # concat.py:37
    out_ref[...] = y  # concat.py:37


def concat_rows(x, y):
    x_2 = jnp.transpose(x, (1, 0))  # concat.py:34
    out = pl.pallas_call(  # concat.py:34
        concat_rows_0_kernel,
        grid=(2, 1),
        in_specs=[pl.BlockSpec((1024, 1024), lambda rows, cols: (cols, rows))],
        out_specs=pl.BlockSpec((1024, 1024), lambda rows, cols: (cols, rows)),
        out_shape=jax.ShapeDtypeStruct((1000, 3501), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=50331648),
        name="concat_rows_0",
    )(x_2)
    out_2 = jnp.transpose(out, (1, 0))  # concat.py:34
    y_2 = jnp.transpose(y, (1, 0))  # concat.py:36
    v = pl.pallas_call(  # concat.py:36
        concat_rows_1_kernel,
        grid=(3, 1),
        in_specs=[pl.BlockSpec((1024, 512), lambda rows, cols: (cols, rows))],
        out_specs=pl.BlockSpec((1024, 512), lambda rows, cols: (cols, rows)),
        out_shape=jax.ShapeDtypeStruct((1000, 1500), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="concat_rows_1",
    )(y_2)
    out_3 = out_2.at[2001:3501, :1000].set(jnp.transpose(v, (1, 0)))  # concat.py:36
    return out_3
