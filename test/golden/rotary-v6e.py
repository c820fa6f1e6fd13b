"""rotary: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rotary_kernel(cos_ref, sin_ref, q_ref, k_ref, q_out_ref, k_out_ref):
    v = cos_ref[...]  # rotary.py:32
    v_2 = sin_ref[...]  # rotary.py:32
    v_3 = q_ref[...]  # rotary.py:33
    v_4 = v_3.astype(jnp.float32)  # rotary.py:11
    first = v_4[:, :, :, 0:64]  # rotary.py:11
    second = v_4[:, :, :, 64:128]  # rotary.py:11
    v_5 = v.astype(jnp.float32)  # rotary.py:12
    v_6 = v_5.reshape((2, 1, 64, 128))  # rotary.py:12
    cos_first = v_6[:, :, :, 0:64]  # rotary.py:12
    cos_second = v_6[:, :, :, 64:128]  # rotary.py:12
    v_7 = v_2.astype(jnp.float32)  # rotary.py:13
    v_8 = v_7.reshape((2, 1, 64, 128))  # rotary.py:13
    sin_first = v_8[:, :, :, 0:64]  # rotary.py:13
    sin_second = v_8[:, :, :, 64:128]  # rotary.py:13
    v_9 = jnp.broadcast_to(cos_first, (2, 32, 64, 64))  # rotary.py:14
    v_10 = first * v_9  # rotary.py:14
    v_11 = jnp.broadcast_to(sin_first, (2, 32, 64, 64))  # rotary.py:14
    v_12 = second * v_11  # rotary.py:14
    v_13 = v_10 - v_12  # rotary.py:14
    v_14 = jnp.broadcast_to(cos_second, (2, 32, 64, 64))  # rotary.py:14
    v_15 = second * v_14  # rotary.py:14
    v_16 = jnp.broadcast_to(sin_second, (2, 32, 64, 64))  # rotary.py:14
    v_17 = first * v_16  # rotary.py:14
    v_18 = v_15 + v_17  # rotary.py:14
    v_19 = jnp.concatenate([v_13, v_18], axis=3)  # rotary.py:15
    v_20 = v_19.astype(jnp.bfloat16)  # rotary.py:15
    q_out_ref[...] = v_20  # rotary.py:33
    v_21 = k_ref[...]  # rotary.py:34
    v_22 = v_21.astype(jnp.float32)  # rotary.py:11
    first_2 = v_22[:, :, :, 0:64]  # rotary.py:11
    second_2 = v_22[:, :, :, 64:128]  # rotary.py:11
    v_23 = jnp.broadcast_to(cos_first, (2, 8, 64, 64))  # rotary.py:14
    v_24 = first_2 * v_23  # rotary.py:14
    v_25 = jnp.broadcast_to(sin_first, (2, 8, 64, 64))  # rotary.py:14
    v_26 = second_2 * v_25  # rotary.py:14
    v_27 = v_24 - v_26  # rotary.py:14
    v_28 = jnp.broadcast_to(cos_second, (2, 8, 64, 64))  # rotary.py:14
    v_29 = second_2 * v_28  # rotary.py:14
    v_30 = jnp.broadcast_to(sin_second, (2, 8, 64, 64))  # rotary.py:14
    v_31 = first_2 * v_30  # rotary.py:14
    v_32 = v_29 + v_31  # rotary.py:14
    v_33 = jnp.concatenate([v_27, v_32], axis=3)  # rotary.py:15
    v_34 = v_33.astype(jnp.bfloat16)  # rotary.py:15
    k_out_ref[...] = v_34  # rotary.py:34


def rotary(q, k, cos, sin):
    q_out, k_out = pl.pallas_call(  # rotary.py:31
        rotary_kernel,
        grid=(1, 32),
        in_specs=[
            pl.BlockSpec((2, 64, 128), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((2, 64, 128), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((2, 32, 64, 128), lambda items, steps: (items, 0, steps, 0)),
            pl.BlockSpec((2, 8, 64, 128), lambda items, steps: (items, 0, steps, 0)),
        ],
        out_specs=[
            pl.BlockSpec((2, 32, 64, 128), lambda items, steps: (items, 0, steps, 0)),
            pl.BlockSpec((2, 8, 64, 128), lambda items, steps: (items, 0, steps, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((2, 32, 2048, 128), jnp.bfloat16),
            jax.ShapeDtypeStruct((2, 8, 2048, 128), jnp.bfloat16),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="rotary",
    )(cos, sin, q, k)
    return q_out, k_out
