"""int8_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int8_matmul_kernel(x_ref, y_ref, scales_x_ref, scales_y_ref, out_ref):
    acc = jnp.full((1024, 1024), 0, jnp.int32)  # quantized.py:74
    x = x_ref[...]  # quantized.py:76
    y = y_ref[...]  # quantized.py:76
    acc_2 = acc + jnp.dot(x, y, preferred_element_type=jnp.int32)  # quantized.py:76
    scales_x = scales_x_ref[...]  # quantized.py:77
    v = scales_x.astype(jnp.float32).reshape((1024, 1)).astype(jnp.bfloat16)  # quantized.py:77
    v_2 = acc_2.astype(jnp.float32) * jnp.broadcast_to(v.astype(jnp.float32), (1024, 1024))  # quantized.py:77
    scales_y = scales_y_ref[...]  # quantized.py:77
    v_3 = jnp.broadcast_to(scales_y.reshape((1, 1024)).astype(jnp.float32), (1024, 1024))  # quantized.py:77
    scaled = v_2 * v_3  # quantized.py:77
    out_ref[...] = scaled.astype(jnp.bfloat16)  # quantized.py:78


def int8_matmul(x, y, scales_x, scales_y):
    out = pl.pallas_call(  # quantized.py:73
        int8_matmul_kernel,
        grid=(4, 4),
        in_specs=[
            pl.BlockSpec((1024, 4096), lambda tile_m, tile_n: (tile_m, 0)),
            pl.BlockSpec((4096, 1024), lambda tile_m, tile_n: (0, tile_n)),
            pl.BlockSpec((1024,), lambda tile_m, tile_n: (tile_m,)),
            pl.BlockSpec((1024,), lambda tile_m, tile_n: (tile_n,)),
        ],
        out_specs=pl.BlockSpec((1024, 1024), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=125845504),
        name="int8_matmul",
    )(x, y, scales_x, scales_y)
    return out
