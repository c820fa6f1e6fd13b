"""concat_masked: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def concat_masked_kernel(x_ref, y_ref, out_ref):
    cols = pl.program_id(1)
    cols_begin = cols * 128
    v = (cols_begin + jax.lax.broadcasted_iota(jnp.int32, (128,), 0)).reshape((1, 128))  # concat.py:23
    left = v < jnp.full((128,), 200, jnp.int32).reshape((1, 128))  # concat.py:23
    v_2 = jnp.broadcast_to(left.astype(jnp.int32), (32, 128)) != 0  # concat.py:24
    x = x_ref[...]  # concat.py:24
    from_x = jnp.where(v_2, x, 0.0)  # concat.py:24
    y = y_ref[...]  # concat.py:25
    from_y = jnp.where(jnp.broadcast_to((~left).astype(jnp.int32), (32, 128)) != 0, y, 0.0)  # concat.py:25
    out_ref[...] = jnp.where(v_2, from_x, from_y)  # concat.py:26


def concat_masked(x, y):
    x_2 = jnp.pad(x, [(0, 0), (0, 184)])  # concat.py:22
    y_2 = jnp.pad(y, [(0, 0), (200, 0)])  # concat.py:22
    out = pl.pallas_call(  # concat.py:22
        concat_masked_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="concat_masked",
    )(x_2, y_2)
    return out
