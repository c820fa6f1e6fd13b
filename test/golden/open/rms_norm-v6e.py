"""rms_norm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rms_norm_kernel(x_ref, weight_ref, out_ref, inverse_ref):
    x = x_ref[...]  # rms_norm.py:15
    values = x.astype(jnp.float32)  # rms_norm.py:15
    rstd = jax.lax.rsqrt(jnp.sum(values * values, axis=1) / 2560.0 + 1e-05)  # rms_norm.py:16
    v = values * jnp.broadcast_to(rstd.reshape((512, 1)), (512, 2560))  # rms_norm.py:17
    weight = weight_ref[...]  # rms_norm.py:17
    v_2 = jnp.broadcast_to(weight.astype(jnp.float32).reshape((1, 2560)), (512, 2560))  # rms_norm.py:17
    out_ref[...] = (v * v_2).astype(jnp.bfloat16)  # rms_norm.py:17
    inverse_ref[...] = rstd  # rms_norm.py:18


def rms_norm(x, weight):
    x_size_0 = x.shape[0]
    out, inverse = pl.pallas_call(  # rms_norm.py:14
        rms_norm_kernel,
        grid=(pl.cdiv(x_size_0, 512),),
        in_specs=[pl.BlockSpec((512, 2560), lambda rows: (rows, 0)), pl.BlockSpec((2560,), lambda rows: (0,))],
        out_specs=[pl.BlockSpec((512, 2560), lambda rows: (rows, 0)), pl.BlockSpec((512,), lambda rows: (rows,))],
        out_shape=[
            jax.ShapeDtypeStruct((x_size_0, 2560), jnp.bfloat16),
            jax.ShapeDtypeStruct((x_size_0,), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=52447232),
        name="rms_norm",
    )(x, weight)
    return out, inverse
