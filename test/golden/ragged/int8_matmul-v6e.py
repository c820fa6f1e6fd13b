"""int8_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int8_matmul_kernel(x_ref, y_ref, scales_x_ref, scales_y_ref, out_ref):
    acc = jnp.full((32, 128), 0, jnp.int32)  # quantized.py:74

    def tile_k_body(tile_k, acc_2):  # quantized.py:75
        tile_k_begin = tile_k * 128  # quantized.py:75
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:76
        y = y_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:76
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 300 - tile_k_begin  # quantized.py:76
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # quantized.py:76
        acc_3 = acc_2 + jnp.dot(  # quantized.py:76
            jnp.where(inside, x, 0), jnp.where(inside_2, y.T, 0), preferred_element_type=jnp.int32
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_k_body, acc, unroll=3)  # quantized.py:75
    scales_x = scales_x_ref[0, :]  # quantized.py:77
    v = acc_4.astype(jnp.float32) * jnp.broadcast_to(scales_x.reshape((32, 1)), (32, 128))  # quantized.py:77
    scales_y = scales_y_ref[...]  # quantized.py:77
    scaled = v * jnp.broadcast_to(scales_y.reshape((1, 128)), (32, 128))  # quantized.py:77
    out_ref[...] = scaled  # quantized.py:78


def int8_matmul(x, y, scales_x, scales_y):
    y_2 = jnp.transpose(y, (1, 0))  # quantized.py:73
    scales_x_2 = jnp.pad(scales_x, [(0, 29)]).reshape((2, 1, 32))  # quantized.py:73
    out = pl.pallas_call(  # quantized.py:73
        int8_matmul_kernel,
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
        name="int8_matmul",
    )(x, y_2, scales_x_2, scales_y)
    return out
