"""int4_matmul_halves: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int4_matmul_halves_kernel(packed_ref, even_ref, odd_ref, out_ref):
    acc = jnp.full((2048, 512), 0.0, jnp.float32)  # quantized.py:33
    packed = packed_ref[...]  # quantized.py:35
    v = packed.astype(jnp.int32)  # quantized.py:84
    v_2 = v << 28 >> 28  # quantized.py:84
    v_3 = v >> 4  # quantized.py:84
    even = even_ref[...]  # quantized.py:36
    acc_2 = acc + jnp.dot(  # quantized.py:36
        even, v_2.astype(jnp.float32).astype(jnp.bfloat16), preferred_element_type=jnp.float32
    )
    odd = odd_ref[...]  # quantized.py:37
    acc_3 = acc_2 + jnp.dot(  # quantized.py:37
        odd, v_3.astype(jnp.float32).astype(jnp.bfloat16), preferred_element_type=jnp.float32
    )
    out_ref[...] = acc_3.astype(jnp.bfloat16)  # quantized.py:38


def int4_matmul_halves(x, packed):
    even = x[:4096, :511:2]  # quantized.py:30
    odd = x[:4096, 1:512:2]  # quantized.py:30
    out = pl.pallas_call(  # quantized.py:32
        int4_matmul_halves_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((256, 512), lambda tile_m, tile_n: (0, tile_n)),
            pl.BlockSpec((2048, 256), lambda tile_m, tile_n: (tile_m, 0)),
            pl.BlockSpec((2048, 256), lambda tile_m, tile_n: (tile_m, 0)),
        ],
        out_specs=pl.BlockSpec((2048, 512), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 512), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=40108032),
        name="int4_matmul_halves",
    )(packed, even, odd)
    return out
