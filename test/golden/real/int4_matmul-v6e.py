"""int4_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int4_matmul_kernel(packed_ref, x_ref, out_ref):
    acc = jnp.full((512, 2048), 0.0, jnp.float32)  # quantized.py:16

    def pair_body(pair, acc_2):  # quantized.py:17
        pair_begin = pair * 256  # quantized.py:17
        packed = packed_ref[pl.ds(pl.multiple_of(pair_begin, 256), 256), :]  # quantized.py:19
        v = packed.astype(jnp.int32)  # quantized.py:84
        v_2 = v << 28 >> 28  # quantized.py:84
        v_3 = v >> 4  # quantized.py:84
        v_4 = jax.lax.bitcast_convert_type(v_2.astype(jnp.float32), jnp.int32)  # quantized.py:20
        v_5 = jax.lax.bitcast_convert_type(v_3.astype(jnp.float32), jnp.int32)  # quantized.py:20
        both = pltpu.bitcast(v_4 >> 16 & 65535 | v_5, jnp.bfloat16)  # quantized.py:20
        block_begin = pair_begin * 2  # quantized.py:21
        x = x_ref[:, pl.ds(pl.multiple_of(block_begin, 512), 512)]  # quantized.py:21
        acc_3 = acc_2 + jnp.dot(x, both, preferred_element_type=jnp.float32)  # quantized.py:21
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 8, pair_body, acc, unroll=8)  # quantized.py:17
    out_ref[...] = acc_4.astype(jnp.bfloat16)  # quantized.py:22


def int4_matmul(x, packed):
    out = pl.pallas_call(  # quantized.py:15
        int4_matmul_kernel,
        grid=(2, 8),
        in_specs=[
            pl.BlockSpec((2048, 2048), lambda tile_n, tile_m: (0, tile_n)),
            pl.BlockSpec((512, 4096), lambda tile_n, tile_m: (tile_m, 0)),
        ],
        out_specs=pl.BlockSpec((512, 2048), lambda tile_n, tile_m: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=71303168),
        name="int4_matmul",
    )(packed, x)
    return out
