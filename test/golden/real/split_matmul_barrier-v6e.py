"""split_matmul_barrier: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def split_matmul_barrier_0_kernel(x_ref, y_ref, parts_ref):
    acc = jnp.full((256, 512), 0.0, jnp.float32)  # split_k.py:31
    x = x_ref[...]  # split_k.py:33
    y = y_ref[...]  # split_k.py:33
    acc_2 = acc + jnp.dot(x, y, preferred_element_type=jnp.float32)  # split_k.py:33
    parts_ref[...] = acc_2  # split_k.py:34


def split_matmul_barrier_1_kernel(parts_ref, out_ref):
    parts = parts_ref[...]  # split_k.py:38
    out_ref[...] = jnp.sum(parts, axis=0).astype(jnp.bfloat16)  # split_k.py:38


def split_matmul_barrier(x, y):
    parts = pl.pallas_call(  # split_k.py:30
        split_matmul_barrier_0_kernel,
        grid=(1, 1, 4),
        in_specs=[
            pl.BlockSpec((256, 2048), lambda tile_m, tile_n, outer: (tile_m, outer)),
            pl.BlockSpec((2048, 512), lambda tile_m, tile_n, outer: (outer, tile_n)),
        ],
        out_specs=pl.BlockSpec((None, 256, 512), lambda tile_m, tile_n, outer: (outer, tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4, 256, 512), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="split_matmul_barrier_0",
    )(x, y)
    out = pl.pallas_call(  # split_k.py:37
        split_matmul_barrier_1_kernel,
        grid=(1, 1),
        in_specs=[pl.BlockSpec((4, 256, 512), lambda tile_m, tile_n: (0, tile_m, tile_n))],
        out_specs=pl.BlockSpec((256, 512), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((256, 512), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="split_matmul_barrier_1",
    )(parts)
    return out
