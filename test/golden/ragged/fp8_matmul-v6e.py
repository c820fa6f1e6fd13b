"""fp8_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def fp8_matmul_kernel(x_ref, y_ref, scales_x_ref, scales_y_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # quantized.py:61

    def tile_k_body(tile_k, acc_2):  # quantized.py:62
        tile_k_begin = tile_k * 128  # quantized.py:62
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:63
        y = y_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:63
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 300 - tile_k_begin  # quantized.py:63
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # quantized.py:63
        acc_3 = acc_2 + jnp.dot(  # quantized.py:63
            jnp.where(inside, x, 0.0), jnp.where(inside_2, y.T, 0.0), preferred_element_type=jnp.float32
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_k_body, acc, unroll=3)  # quantized.py:62
    scales_x = scales_x_ref[0, :]  # quantized.py:64
    v = acc_4 * jnp.broadcast_to(scales_x.reshape((32, 1)), (32, 128))  # quantized.py:64
    scales_y = scales_y_ref[...]  # quantized.py:64
    out_ref[...] = v * jnp.broadcast_to(scales_y.reshape((1, 128)), (32, 128))  # quantized.py:64


def fp8_matmul(x, y, scales_x, scales_y):
    y_2 = jnp.transpose(y, (1, 0))  # quantized.py:60
    scales_x_2 = jnp.pad(scales_x, [(0, 29)]).reshape((2, 1, 32))  # quantized.py:60
    out = pl.pallas_call(  # quantized.py:60
        fp8_matmul_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((32, 384), lambda tile_n, tile_m: (tile_m, 0)),
            pl.BlockSpec((128, 384), lambda tile_n, tile_m: (tile_n, 0)),
            pl.BlockSpec((None, 1, 32), lambda tile_n, tile_m: (tile_m, 0, 0)),
            pl.BlockSpec((128,), lambda tile_n, tile_m: (tile_n,)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_m: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((35, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="fp8_matmul",
    )(x, y_2, scales_x_2, scales_y)
    return out
