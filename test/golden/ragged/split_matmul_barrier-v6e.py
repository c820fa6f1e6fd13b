"""split_matmul_barrier: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def split_matmul_barrier_0_kernel(x_ref, y_ref, parts_ref):
    outer = pl.program_id(2)
    outer_begin = outer * 250

    @pl.when(outer == 0)  # split_k.py:30
    def _():
        acc = jnp.full((32, 128), 0.0, jnp.float32)  # split_k.py:31
        x = x_ref[:, 0:128]  # split_k.py:33
        y = y_ref[0:128, :]  # split_k.py:33
        acc_2 = acc + jnp.dot(  # split_k.py:33
            x, y, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        x_2 = x_ref[:, 128:256]  # split_k.py:33
        y_2 = y_ref[128:256, :]  # split_k.py:33
        inside = 128 + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 250  # split_k.py:32
        v = jnp.where(inside, x_2, 0.0)  # split_k.py:32
        inside_2 = 128 + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 250  # split_k.py:32
        v_2 = jnp.where(inside_2, y_2, 0.0)  # split_k.py:32
        acc_3 = acc_2 + jnp.dot(  # split_k.py:33
            v, v_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        parts_ref[...] = acc_3  # split_k.py:34

    @pl.when(outer >= 1)  # split_k.py:30
    def _():
        acc_4 = jnp.full((32, 128), 0.0, jnp.float32)  # split_k.py:31
        v_3 = jnp.minimum(outer_begin + 250, 1000)  # split_k.py:32
        tile_k_first = outer_begin >> 7  # split_k.py:32
        tile_k_begin = jnp.minimum(tile_k_first, 7) * 128  # split_k.py:32
        tile_k_start = jnp.maximum(outer_begin, tile_k_first * 128)  # split_k.py:32
        x_3 = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # split_k.py:33
        y_3 = y_ref[pl.ds(pl.multiple_of(tile_k_begin, 128), 128), :]  # split_k.py:33
        v_4 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)  # split_k.py:32
        inside_3 = v_4 >= jnp.full((32, 128), tile_k_start, jnp.int32)  # split_k.py:32
        v_5 = jnp.where(inside_3, x_3, 0.0)  # split_k.py:32
        v_6 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # split_k.py:32
        inside_4 = v_6 >= jnp.full((128, 128), tile_k_start, jnp.int32)  # split_k.py:32
        v_7 = jnp.where(inside_4, y_3, 0.0)  # split_k.py:32
        acc_5 = acc_4 + jnp.dot(  # split_k.py:33
            v_5, v_7, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        tile_k_begin_2 = jnp.minimum(tile_k_first + 1, 7) * 128  # split_k.py:32
        x_4 = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin_2, 128), 128)]  # split_k.py:33
        y_4 = y_ref[pl.ds(pl.multiple_of(tile_k_begin_2, 128), 128), :]  # split_k.py:33
        acc_6 = acc_5 + jnp.dot(  # split_k.py:33
            x_4, y_4, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        tile_k_begin_3 = jnp.minimum(tile_k_first + 2, 7) * 128  # split_k.py:32
        x_5 = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin_3, 128), 128)]  # split_k.py:33
        y_5 = y_ref[pl.ds(pl.multiple_of(tile_k_begin_3, 128), 128), :]  # split_k.py:33
        v_8 = tile_k_begin_3 + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)  # split_k.py:32
        inside_5 = v_8 < jnp.full((32, 128), v_3, jnp.int32)  # split_k.py:32
        v_9 = jnp.where(inside_5, x_5, 0.0)  # split_k.py:32
        v_10 = tile_k_begin_3 + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # split_k.py:32
        inside_6 = v_10 < jnp.full((128, 128), v_3, jnp.int32)  # split_k.py:32
        v_11 = jnp.where(inside_6, y_5, 0.0)  # split_k.py:32
        acc_7 = acc_6 + jnp.dot(  # split_k.py:33
            v_9, v_11, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        parts_ref[...] = acc_7  # split_k.py:34


def split_matmul_barrier_1_kernel(parts_ref, out_ref):
    parts = parts_ref[...]  # split_k.py:38
    out_ref[...] = jnp.sum(parts, axis=0)  # split_k.py:38


def split_matmul_barrier(x, y):
    v = jnp.pad(x, [(0, 0), (0, 24)])  # split_k.py:30
    v_2 = jnp.pad(y, [(0, 24), (0, 0)])  # split_k.py:30
    parts = pl.pallas_call(  # split_k.py:30
        split_matmul_barrier_0_kernel,
        grid=(3, 3, 4),
        in_specs=[
            pl.BlockSpec((32, 1024), lambda tile_n, tile_m, outer: (tile_m, 0)),
            pl.BlockSpec((1024, 128), lambda tile_n, tile_m, outer: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((None, 32, 128), lambda tile_n, tile_m, outer: (outer, tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4, 75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="split_matmul_barrier_0",
    )(v, v_2)
    out = pl.pallas_call(  # split_k.py:37
        split_matmul_barrier_1_kernel,
        grid=(3, 3),
        in_specs=[pl.BlockSpec((4, 32, 128), lambda tile_m, tile_n: (0, tile_m, tile_n))],
        out_specs=pl.BlockSpec((32, 128), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="split_matmul_barrier_1",
    )(parts)
    return out
