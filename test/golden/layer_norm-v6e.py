"""layer_norm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def layer_norm_kernel(x_ref, weight_ref, bias_ref, out_ref):
    v = x_ref[...]  # layer_norm.py:14
    values = v.astype(jnp.float32)  # layer_norm.py:14
    v_2 = jnp.sum(values, axis=1)  # layer_norm.py:15
    v_3 = v_2.reshape((256, 1))  # layer_norm.py:15
    v_4 = v_3 / 2560.0  # layer_norm.py:15
    v_5 = jnp.broadcast_to(v_4, (256, 2560))  # layer_norm.py:15
    centred = values - v_5  # layer_norm.py:15
    v_6 = centred * centred  # layer_norm.py:16
    v_7 = jnp.sum(v_6, axis=1)  # layer_norm.py:16
    v_8 = v_7.reshape((256, 1))  # layer_norm.py:16
    variance = v_8 / 2560.0  # layer_norm.py:16
    v_9 = variance + 9.999999747378752e-06  # layer_norm.py:17
    v_10 = jax.lax.rsqrt(v_9)  # layer_norm.py:17
    v_11 = jnp.broadcast_to(v_10, (256, 2560))  # layer_norm.py:17
    v_12 = centred * v_11  # layer_norm.py:17
    v_13 = weight_ref[...]  # layer_norm.py:17
    v_14 = v_13.astype(jnp.float32)  # layer_norm.py:17
    v_15 = jnp.broadcast_to(v_14, (256, 2560))  # layer_norm.py:17
    result = v_12 * v_15  # layer_norm.py:17
    v_16 = bias_ref[...]  # layer_norm.py:19
    v_17 = v_16.astype(jnp.float32)  # layer_norm.py:19
    v_18 = jnp.broadcast_to(v_17, (256, 2560))  # layer_norm.py:19
    result_2 = result + v_18  # layer_norm.py:19
    v_19 = result_2.astype(jnp.bfloat16)  # layer_norm.py:20
    out_ref[...] = v_19  # layer_norm.py:20


def layer_norm(x, weight, bias):
    out = pl.pallas_call(  # layer_norm.py:13
        layer_norm_kernel,
        grid=(16,),
        in_specs=[
            pl.BlockSpec((256, 2560), lambda rows: (rows, 0)),
            pl.BlockSpec((2560,), lambda rows: (0,)),
            pl.BlockSpec((2560,), lambda rows: (0,)),
        ],
        out_specs=pl.BlockSpec((256, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="layer_norm",
    )(x, weight, bias)
    return out
