"""rotary_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rotary_backward_kernel(cos_ref, sin_ref, grad_q_ref, grad_k_ref, q_out_ref, k_out_ref):
    cos = cos_ref[...]  # rotary.py:43
    sin = sin_ref[...]  # rotary.py:43
    grad_q = grad_q_ref[...]  # rotary.py:44
    v = grad_q.astype(jnp.float32)  # rotary.py:20
    first = v[:, :, :, 0:64]  # rotary.py:20
    second = v[:, :, :, 64:128]  # rotary.py:20
    v_2 = cos.astype(jnp.float32).reshape((1, 1, 256, 128))  # rotary.py:21
    v_3 = sin.astype(jnp.float32).reshape((1, 1, 256, 128))  # rotary.py:22
    sin_first = v_3[:, :, :, 0:64]  # rotary.py:22
    sin_second = v_3[:, :, :, 64:128]  # rotary.py:22
    v_4 = jnp.concatenate([second, first], axis=3)  # rotary.py:24
    v_5 = jnp.concatenate([sin_second, -sin_first], axis=3)  # rotary.py:24
    v_6 = v * jnp.broadcast_to(v_2, (1, 32, 256, 128)) + v_4 * jnp.broadcast_to(v_5, (1, 32, 256, 128))  # rotary.py:23
    v_7 = v_6.astype(jnp.bfloat16)  # rotary.py:24
    q_out_ref[...] = v_7  # rotary.py:44
    grad_k = grad_k_ref[...]  # rotary.py:45
    v_8 = grad_k.astype(jnp.float32)  # rotary.py:20
    first_2 = v_8[:, :, :, 0:64]  # rotary.py:20
    second_2 = v_8[:, :, :, 64:128]  # rotary.py:20
    v_9 = jnp.concatenate([second_2, first_2], axis=3)  # rotary.py:24
    v_10 = v_8 * jnp.broadcast_to(v_2, (1, 8, 256, 128)) + v_9 * jnp.broadcast_to(v_5, (1, 8, 256, 128))  # rotary.py:23
    v_11 = v_10.astype(jnp.bfloat16)  # rotary.py:24
    k_out_ref[...] = v_11  # rotary.py:45


def rotary_backward(grad_q, grad_k, cos, sin):
    q_out, k_out = pl.pallas_call(  # rotary.py:42
        rotary_backward_kernel,
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
        name="rotary_backward",
    )(cos, sin, grad_q, grad_k)
    return q_out, k_out
