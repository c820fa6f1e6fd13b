"""rotary_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rotary_backward_kernel(cos_ref, sin_ref, grad_q_ref, grad_k_ref, q_out_ref, k_out_ref):
    cos = cos_ref[...]  # rotary.py:43
    sin = sin_ref[...]  # rotary.py:43
    grad_q = grad_q_ref[...]  # rotary.py:44
    v = jnp.transpose(grad_q, (0, 2, 1, 3))  # rotary.py:44
    first = v[:, :, :, 0:32]  # rotary.py:20
    second = v[:, :, :, 32:64]  # rotary.py:20
    v_2 = cos.reshape((1, 1, 16, 64))  # rotary.py:21
    v_3 = sin.reshape((1, 1, 16, 64))  # rotary.py:22
    sin_first = v_3[:, :, :, 0:32]  # rotary.py:22
    sin_second = v_3[:, :, :, 32:64]  # rotary.py:22
    v_4 = jnp.concatenate([second, first], axis=3)  # rotary.py:24
    v_5 = jnp.concatenate([sin_second, -sin_first], axis=3)  # rotary.py:24
    v_6 = v * jnp.broadcast_to(v_2, (1, 4, 16, 64)) + v_4 * jnp.broadcast_to(v_5, (1, 4, 16, 64))  # rotary.py:23
    q_out_ref[...] = jnp.transpose(v_6, (0, 2, 1, 3))  # rotary.py:44
    grad_k = grad_k_ref[...]  # rotary.py:45
    v_7 = jnp.transpose(grad_k, (0, 2, 1, 3))  # rotary.py:45
    first_2 = v_7[:, :, :, 0:32]  # rotary.py:20
    second_2 = v_7[:, :, :, 32:64]  # rotary.py:20
    v_8 = jnp.concatenate([second_2, first_2], axis=3)  # rotary.py:24
    v_9 = v_7 * jnp.broadcast_to(v_2, (1, 2, 16, 64)) + v_8 * jnp.broadcast_to(v_5, (1, 2, 16, 64))  # rotary.py:23
    k_out_ref[...] = jnp.transpose(v_9, (0, 2, 1, 3))  # rotary.py:45


def rotary_backward(grad_q, grad_k, cos, sin):
    grad_q_2 = jnp.transpose(grad_q, (0, 2, 1, 3))  # rotary.py:42
    grad_k_2 = jnp.transpose(grad_k, (0, 2, 1, 3))  # rotary.py:42
    q_out, k_out = pl.pallas_call(  # rotary.py:42
        rotary_backward_kernel,
        grid=(2, 3),
        in_specs=[
            pl.BlockSpec((1, 16, 64), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((1, 16, 64), lambda items, steps: (items, steps, 0)),
            pl.BlockSpec((1, 16, 4, 64), lambda items, steps: (items, steps, 0, 0)),
            pl.BlockSpec((1, 16, 2, 64), lambda items, steps: (items, steps, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((1, 16, 4, 64), lambda items, steps: (items, steps, 0, 0)),
            pl.BlockSpec((1, 16, 2, 64), lambda items, steps: (items, steps, 0, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((2, 37, 4, 64), jnp.float32),
            jax.ShapeDtypeStruct((2, 37, 2, 64), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="rotary_backward",
    )(cos, sin, grad_q_2, grad_k_2)
    k_out_2 = jnp.transpose(k_out, (0, 2, 1, 3))  # rotary.py:42
    q_out_2 = jnp.transpose(q_out, (0, 2, 1, 3))  # rotary.py:42
    return q_out_2, k_out_2
