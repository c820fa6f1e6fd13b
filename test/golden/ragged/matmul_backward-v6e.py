"""matmul_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def matmul_backward_0_kernel(grad_ref, y_ref, grad_x_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # matmul.py:32

    def tile_n_body(tile_n, acc_2):  # matmul.py:33
        tile_n_begin = tile_n * 128  # matmul.py:33
        grad = grad_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # matmul.py:34
        y = y_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # matmul.py:34
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - tile_n_begin  # matmul.py:34
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 333 - tile_n_begin  # matmul.py:34
        acc_3 = acc_2 + jnp.dot(  # matmul.py:34
            jnp.where(inside, grad, 0.0),
            jnp.where(inside_2, y.T, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_n_body, acc, unroll=3)  # matmul.py:33
    grad_x_ref[...] = acc_4  # matmul.py:35


def matmul_backward_1_kernel(x_ref, grad_ref, grad_y_ref):
    acc = jnp.full((128, 128), 0.0, jnp.float32)  # matmul.py:37
    x = x_ref[...]  # matmul.py:39
    grad = grad_ref[...]  # matmul.py:39
    inside = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < 75  # matmul.py:39
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 75  # matmul.py:39
    acc_2 = acc + jnp.dot(  # matmul.py:39
        jnp.where(inside, x.T, 0.0),
        jnp.where(inside_2, grad, 0.0),
        precision=jax.lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )
    grad_y_ref[...] = acc_2  # matmul.py:40


def matmul_backward(grad, x, y):
    grad_x = pl.pallas_call(  # matmul.py:31
        matmul_backward_0_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 384), lambda tile_k, tile_m: (tile_m, 0)),
            pl.BlockSpec((128, 384), lambda tile_k, tile_m: (tile_k, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_k, tile_m: (tile_m, tile_k)),
        out_shape=jax.ShapeDtypeStruct((75, 300), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="matmul_backward_0",
    )(grad, y)
    grad_y = pl.pallas_call(  # matmul.py:36
        matmul_backward_1_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((128, 128), lambda tile_k, tile_n: (0, tile_k)),
            pl.BlockSpec((128, 128), lambda tile_k, tile_n: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((128, 128), lambda tile_k, tile_n: (tile_k, tile_n)),
        out_shape=jax.ShapeDtypeStruct((300, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="matmul_backward_1",
    )(x, grad)
    return grad_x, grad_y
