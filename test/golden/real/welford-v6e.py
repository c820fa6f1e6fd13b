"""welford: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def welford_kernel(x_ref, weight_ref, bias_ref, out_ref):
    x = x_ref[...]  # welford.py:20
    chunk = x.astype(jnp.float32)  # welford.py:20
    chunk_mean = jnp.sum(chunk, axis=1) / 2560.0  # welford.py:22
    centred = chunk - jnp.broadcast_to(chunk_mean.reshape((512, 1)), (512, 2560))  # welford.py:23
    mean = 0.0 + chunk_mean  # welford.py:26
    squares = jnp.sum(centred * centred, axis=1) + chunk_mean * chunk_mean * 0.0  # welford.py:27
    rstd = jax.lax.rsqrt(squares / 2560.0 + 1e-05)  # welford.py:29
    x_2 = x_ref[...]  # welford.py:31
    chunk_2 = x_2.astype(jnp.float32)  # welford.py:31
    v = chunk_2 - jnp.broadcast_to(mean.reshape((512, 1)), (512, 2560))  # welford.py:32
    weight = weight_ref[...]  # welford.py:32
    v_2 = jnp.broadcast_to(weight.astype(jnp.float32).reshape((1, 2560)), (512, 2560))  # welford.py:32
    scaled = v * jnp.broadcast_to(rstd.reshape((512, 1)), (512, 2560)) * v_2  # welford.py:32
    bias = bias_ref[...]  # welford.py:33
    v_3 = jnp.broadcast_to(bias.astype(jnp.float32).reshape((1, 2560)), (512, 2560))  # welford.py:33
    out_ref[...] = (scaled + v_3).astype(jnp.bfloat16)  # welford.py:33


def welford(x, weight, bias):
    out = pl.pallas_call(  # welford.py:15
        welford_kernel,
        grid=(8,),
        in_specs=[
            pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
            pl.BlockSpec((2560,), lambda rows: (0,)),
            pl.BlockSpec((2560,), lambda rows: (0,)),
        ],
        out_specs=pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=52449280),
        name="welford",
    )(x, weight, bias)
    return out
