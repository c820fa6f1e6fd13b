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
    cos_first = v_2[:, :, :, 0:64]  # rotary.py:12
    cos_second = v_2[:, :, :, 64:128]  # rotary.py:12
    v_3 = sin.astype(jnp.float32).reshape((1, 1, 256, 128))  # rotary.py:13
    sin_first = v_3[:, :, :, 0:64]  # rotary.py:13
    sin_second = v_3[:, :, :, 64:128]  # rotary.py:13
    v_4 = (  # rotary.py:14
        first * jnp.broadcast_to(cos_first, (1, 32, 256, 64)) - second * jnp.broadcast_to(sin_first, (1, 32, 256, 64))
    )
    v_5 = (  # rotary.py:14
        second * jnp.broadcast_to(cos_second, (1, 32, 256, 64)) + first * jnp.broadcast_to(sin_second, (1, 32, 256, 64))
    )
    v_6 = jnp.concatenate([v_4, v_5], axis=3).astype(jnp.bfloat16)  # rotary.py:15
    q_out_ref[...] = v_6  # rotary.py:33
    k = k_ref[...]  # rotary.py:34
    v_7 = k.astype(jnp.float32)  # rotary.py:11
    first_2 = v_7[:, :, :, 0:64]  # rotary.py:11
    second_2 = v_7[:, :, :, 64:128]  # rotary.py:11
    v_8 = (  # rotary.py:14
        first_2 * jnp.broadcast_to(cos_first, (1, 8, 256, 64)) - second_2 * jnp.broadcast_to(sin_first, (1, 8, 256, 64))
    )
    v_9 = (  # rotary.py:14
        second_2 * jnp.broadcast_to(cos_second, (1, 8, 256, 64))
        + first_2 * jnp.broadcast_to(sin_second, (1, 8, 256, 64))
    )
    v_10 = jnp.concatenate([v_8, v_9], axis=3).astype(jnp.bfloat16)  # rotary.py:15
    k_out_ref[...] = v_10  # rotary.py:34


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
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=64487424),
        name="rotary",
    )(cos, sin, q, k)
    return q_out, k_out
