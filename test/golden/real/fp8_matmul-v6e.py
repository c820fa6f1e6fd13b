"""fp8_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def fp8_matmul_kernel(x_ref, y_ref, scales_x_ref, scales_y_ref, out_ref):
    acc = jnp.full((1024, 1024), 0.0, jnp.float32)  # quantized.py:61
    x = x_ref[...]  # quantized.py:63
    y = y_ref[...]  # quantized.py:63
    acc_2 = acc + jnp.dot(x, y, preferred_element_type=jnp.float32)  # quantized.py:63
    scales_x = scales_x_ref[...]  # quantized.py:64
    v = scales_x.astype(jnp.float32).reshape((1024, 1)).astype(jnp.bfloat16)  # quantized.py:64
    v_2 = acc_2 * jnp.broadcast_to(v.astype(jnp.float32), (1024, 1024))  # quantized.py:64
    scales_y = scales_y_ref[...]  # quantized.py:64
    v_3 = jnp.broadcast_to(scales_y.reshape((1, 1024)).astype(jnp.float32), (1024, 1024))  # quantized.py:64
    out_ref[...] = (v_2 * v_3).astype(jnp.bfloat16)  # quantized.py:64


def fp8_matmul(x, y, scales_x, scales_y):
    out = pl.pallas_call(  # quantized.py:60
        fp8_matmul_kernel,
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
        name="fp8_matmul",
    )(x, y, scales_x, scales_y)
    return out
