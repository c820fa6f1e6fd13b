"""int16_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int16_matmul_kernel(x_ref, weights_ref, out_ref):
    acc = jnp.full((1024, 1024), 0.0, jnp.float32)  # quantized.py:48

    def tile_k_body(tile_k, acc_2):  # quantized.py:49
        tile_k_begin = tile_k * 512  # quantized.py:49
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 512), 512)]  # quantized.py:50
        weights = weights_ref[pl.ds(pl.multiple_of(tile_k_begin, 512), 512), :]  # quantized.py:50
        acc_3 = acc_2 + jnp.dot(  # quantized.py:50
            x, weights.astype(jnp.float32).astype(jnp.bfloat16), preferred_element_type=jnp.float32
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 8, tile_k_body, acc, unroll=8)  # quantized.py:49
    out_ref[...] = acc_4.astype(jnp.bfloat16)  # quantized.py:51


def int16_matmul(x, weights):
    out = pl.pallas_call(  # quantized.py:47
        int16_matmul_kernel,
        grid=(4, 4),
        in_specs=[
            pl.BlockSpec((1024, 4096), lambda tile_m, tile_n: (tile_m, 0)),
            pl.BlockSpec((4096, 1024), lambda tile_m, tile_n: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((1024, 1024), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100663296),
        name="int16_matmul",
    )(x, weights)
    return out
