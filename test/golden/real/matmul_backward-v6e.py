"""matmul_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def matmul_backward_0_kernel(grad_ref, y_ref, grad_x_ref):
    acc = jnp.full((512, 1024), 0.0, jnp.float32)  # matmul.py:32
    grad = grad_ref[...]  # matmul.py:34
    y = y_ref[...]  # matmul.py:34
    acc_2 = acc + jnp.dot(grad, y.T, preferred_element_type=jnp.float32)  # matmul.py:34
    grad_x_ref[...] = acc_2.astype(jnp.bfloat16).T  # matmul.py:35


def matmul_backward_1_kernel(x_ref, grad_ref, grad_y_ref):
    acc = jnp.full((512, 768), 0.0, jnp.float32)  # matmul.py:37
    x = x_ref[...]  # matmul.py:39
    grad = grad_ref[...]  # matmul.py:39
    acc_2 = acc + jnp.dot(x, grad, preferred_element_type=jnp.float32)  # matmul.py:39
    grad_y_ref[...] = acc_2.astype(jnp.bfloat16)  # matmul.py:40


def matmul_backward(grad, x, y):
    grad_x = pl.pallas_call(  # matmul.py:31
        matmul_backward_0_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((512, 768), lambda tile_m, tile_k: (tile_m, 0)),
            pl.BlockSpec((1024, 768), lambda tile_m, tile_k: (tile_k, 0)),
        ],
        out_specs=pl.BlockSpec((1024, 512), lambda tile_m, tile_k: (tile_k, tile_m)),
        out_shape=jax.ShapeDtypeStruct((1000, 1024), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="matmul_backward_0",
    )(grad, y)
    grad_x_2 = jnp.transpose(grad_x, (1, 0))  # matmul.py:31
    x_2 = jnp.transpose(x, (1, 0))  # matmul.py:36
    grad_y = pl.pallas_call(  # matmul.py:36
        matmul_backward_1_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((512, 1024), lambda tile_k, tile_n: (tile_k, 0)),
            pl.BlockSpec((1024, 768), lambda tile_k, tile_n: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((512, 768), lambda tile_k, tile_n: (tile_k, tile_n)),
        out_shape=jax.ShapeDtypeStruct((1000, 768), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="matmul_backward_1",
    )(x_2, grad)
    return grad_x_2, grad_y
