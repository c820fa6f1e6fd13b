"""int16_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int16_matmul_kernel(x_ref, weights_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # quantized.py:48

    def tile_k_body(tile_k, acc_2):  # quantized.py:49
        tile_k_begin = tile_k * 128  # quantized.py:49
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:50
        weights = weights_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # quantized.py:50
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 300 - tile_k_begin  # quantized.py:50
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # quantized.py:50
        acc_3 = acc_2 + jnp.dot(  # quantized.py:50
            jnp.where(inside, x, 0.0),
            jnp.where(inside_2, weights.T.astype(jnp.float32), 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_k_body, acc, unroll=3)  # quantized.py:49
    out_ref[...] = acc_4  # quantized.py:51


def int16_matmul(x, weights):
    weights_2 = jnp.transpose(weights, (1, 0))  # quantized.py:47
    out = pl.pallas_call(  # quantized.py:47
        int16_matmul_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((32, 384), lambda tile_n, tile_m: (tile_m, 0)),
            pl.BlockSpec((128, 384), lambda tile_n, tile_m: (tile_n, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_m: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((35, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="int16_matmul",
    )(x, weights_2)
    return out
