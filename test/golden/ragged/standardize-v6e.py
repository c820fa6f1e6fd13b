"""standardize: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def standardize_0_kernel(x_ref, mean_ref, rstd_ref):
    values = x_ref[...]  # standardize.py:16
    average = jnp.sum(values, axis=0) / 75.0  # standardize.py:17
    centred = values - jnp.broadcast_to(average.reshape((1, 128)), (75, 128))  # standardize.py:18
    mean_ref[...] = average  # standardize.py:19
    rstd_ref[...] = jax.lax.rsqrt(jnp.sum(centred * centred, axis=0) / 75.0 + 1e-05)  # standardize.py:20


def standardize_1_kernel(x_ref, mean_ref, rstd_ref, out_ref):
    values = x_ref[...]  # standardize.py:23
    mean = mean_ref[...]  # standardize.py:24
    rstd = rstd_ref[...]  # standardize.py:24
    out_ref[...] = (  # standardize.py:24
        (
            values - jnp.broadcast_to(mean.reshape((1, 128)), (32, 128))
        ) * jnp.broadcast_to(rstd.reshape((1, 128)), (32, 128))
    )


def standardize(x):
    mean, rstd = pl.pallas_call(  # standardize.py:15
        standardize_0_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((75, 128), lambda cols: (0, cols))],
        out_specs=[pl.BlockSpec((128,), lambda cols: (cols,)), pl.BlockSpec((128,), lambda cols: (cols,))],
        out_shape=[jax.ShapeDtypeStruct((333,), jnp.float32), jax.ShapeDtypeStruct((333,), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="standardize_0",
    )(x)
    out = pl.pallas_call(  # standardize.py:22
        standardize_1_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((128,), lambda rows, cols: (cols,)),
            pl.BlockSpec((128,), lambda rows, cols: (cols,)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="standardize_1",
    )(x, mean, rstd)
    return out
