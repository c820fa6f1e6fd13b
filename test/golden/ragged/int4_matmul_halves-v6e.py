"""int4_matmul_halves: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def int4_matmul_halves_kernel(packed_ref, even_ref, odd_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # quantized.py:33

    def pair_body(pair, acc_2):  # quantized.py:34
        pair_begin = pair * 128  # quantized.py:34
        packed = packed_ref[pl.ds(pl.multiple_of(pair_begin, 128), 128), :]  # quantized.py:35
        v = packed.astype(jnp.int32)  # quantized.py:84
        v_2 = v << 28 >> 28  # quantized.py:84
        v_3 = v >> 4  # quantized.py:84
        even = even_ref[:, pl.ds(pl.multiple_of(pair_begin, 128), 128)]  # quantized.py:36
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 150 - pair_begin  # quantized.py:36
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 150 - pair_begin  # quantized.py:36
        acc_3 = acc_2 + jnp.dot(  # quantized.py:36
            jnp.where(inside, even, 0.0),
            jnp.where(inside_2, v_2.astype(jnp.float32), 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        odd = odd_ref[:, pl.ds(pl.multiple_of(pair_begin, 128), 128)]  # quantized.py:37
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 150 - pair_begin  # quantized.py:37
        inside_4 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 150 - pair_begin  # quantized.py:37
        acc_4 = acc_3 + jnp.dot(  # quantized.py:37
            jnp.where(inside_3, odd, 0.0),
            jnp.where(inside_4, v_3.astype(jnp.float32), 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_4

    acc_5 = jax.lax.fori_loop(0, 2, pair_body, acc, unroll=2)  # quantized.py:34
    out_ref[...] = acc_5  # quantized.py:38


def int4_matmul_halves(x, packed):
    even = x[:35, :299:2]  # quantized.py:30
    odd = x[:35, 1:300:2]  # quantized.py:30
    out = pl.pallas_call(  # quantized.py:32
        int4_matmul_halves_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((256, 128), lambda tile_m, tile_n: (0, tile_n)),
            pl.BlockSpec((32, 256), lambda tile_m, tile_n: (tile_m, 0)),
            pl.BlockSpec((32, 256), lambda tile_m, tile_n: (tile_m, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((35, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="int4_matmul_halves",
    )(packed, even, odd)
    return out
