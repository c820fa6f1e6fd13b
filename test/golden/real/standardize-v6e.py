"""standardize: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def standardize_0_kernel(x_ref, mean_ref, rstd_ref):
    x = x_ref[...]  # standardize.py:16
    values = x.astype(jnp.float32)  # standardize.py:16
    average = jnp.sum(values, axis=0) / 4096.0  # standardize.py:17
    centred = values - jnp.broadcast_to(average.reshape((1, 512)), (4096, 512))  # standardize.py:18
    mean_ref[...] = average  # standardize.py:19
    rstd_ref[...] = jax.lax.rsqrt(jnp.sum(centred * centred, axis=0) / 4096.0 + 1e-05)  # standardize.py:20


def standardize_1_kernel(x_ref, mean_ref, rstd_ref, out_ref):
    x = x_ref[...]  # standardize.py:23
    values = x.astype(jnp.float32)  # standardize.py:23
    mean = mean_ref[...]  # standardize.py:24
    v = values - jnp.broadcast_to(mean.reshape((1, 512)), (4096, 512))  # standardize.py:24
    rstd = rstd_ref[...]  # standardize.py:24
    out_ref[...] = (v * jnp.broadcast_to(rstd.reshape((1, 512)), (4096, 512))).astype(jnp.bfloat16)  # standardize.py:24


def standardize(x):
    mean, rstd = pl.pallas_call(  # standardize.py:15
        standardize_0_kernel,
        grid=(5,),
        in_specs=[pl.BlockSpec((4096, 512), lambda cols: (0, cols))],
        out_specs=[pl.BlockSpec((512,), lambda cols: (cols,)), pl.BlockSpec((512,), lambda cols: (cols,))],
        out_shape=[jax.ShapeDtypeStruct((2560,), jnp.float32), jax.ShapeDtypeStruct((2560,), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=67125248),
        name="standardize_0",
    )(x)
    out = pl.pallas_call(  # standardize.py:22
        standardize_1_kernel,
        grid=(1, 5),
        in_specs=[
            pl.BlockSpec((4096, 512), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((512,), lambda rows, cols: (cols,)),
            pl.BlockSpec((512,), lambda rows, cols: (cols,)),
        ],
        out_specs=pl.BlockSpec((4096, 512), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=83902464),
        name="standardize_1",
    )(x, mean, rstd)
    return out
