"""rotary: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rotary_kernel(cos_ref, sin_ref, q_ref, k_ref, q_out_ref, k_out_ref):
    cos = cos_ref[...]  # rotary.py:32
    sin = sin_ref[...]  # rotary.py:32
    q = q_ref[...]  # rotary.py:33
    v = q.astype(jnp.float32)  # rotary.py:11
    first = v[:, :, :, 0:64]  # rotary.py:11
    second = v[:, :, :, 64:128]  # rotary.py:11
    v_2 = cos.astype(jnp.float32).reshape((1, 1, 256, 128))  # rotary.py:12
    v_3 = sin.astype(jnp.float32).reshape((1, 1, 256, 128))  # rotary.py:13
    sin_first = v_3[:, :, :, 0:64]  # rotary.py:13
    sin_second = v_3[:, :, :, 64:128]  # rotary.py:13
    v_4 = jnp.concatenate([second, first], axis=3)  # rotary.py:15
    v_5 = jnp.concatenate([-sin_first, sin_second], axis=3)  # rotary.py:15
    v_6 = v * jnp.broadcast_to(v_2, (1, 32, 256, 128)) + v_4 * jnp.broadcast_to(v_5, (1, 32, 256, 128))  # rotary.py:14
    v_7 = v_6.astype(jnp.bfloat16)  # rotary.py:15
    q_out_ref[...] = v_7  # rotary.py:33
    k = k_ref[...]  # rotary.py:34
    v_8 = k.astype(jnp.float32)  # rotary.py:11
    first_2 = v_8[:, :, :, 0:64]  # rotary.py:11
    second_2 = v_8[:, :, :, 64:128]  # rotary.py:11
    v_9 = jnp.concatenate([second_2, first_2], axis=3)  # rotary.py:15
    v_10 = v_8 * jnp.broadcast_to(v_2, (1, 8, 256, 128)) + v_9 * jnp.broadcast_to(v_5, (1, 8, 256, 128))  # rotary.py:14
    v_11 = v_10.astype(jnp.bfloat16)  # rotary.py:15
    k_out_ref[...] = v_11  # rotary.py:34


def rotary(q, k, cos, sin):
    q_out, k_out = pl.pallas_call(  # rotary.py:31
        rotary_kernel,
        grid=(2, 8),
        in_specs=[
            pl.BlockSpec((1, 256, 128), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((1, 256, 128), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((1, 32, 256, 128), lambda items, steps: (items, 0, steps, 0)),
            pl.BlockSpec((1, 8, 256, 128), lambda items, steps: (items, 0, steps, 0)),
        ],
        out_specs=[
            pl.BlockSpec((1, 32, 256, 128), lambda items, steps: (items, 0, steps, 0)),
            pl.BlockSpec((1, 8, 256, 128), lambda items, steps: (items, 0, steps, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((2, 32, 2048, 128), jnp.bfloat16),
            jax.ShapeDtypeStruct((2, 8, 2048, 128), jnp.bfloat16),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=64225280),
        name="rotary",
    )(cos, sin, q, k)
    return q_out, k_out
