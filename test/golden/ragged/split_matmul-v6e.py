"""split_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def split_matmul_kernel(x_ref, y_ref, out_ref, out_acc_ref):
    outer = pl.program_id(2)
    outer_begin = outer * 250

    @pl.when(outer == 0)  # split_k.py:19
    def _():
        out_acc_ref[...] = jnp.full((32, 128), 0.0, jnp.float32)  # split_k.py:19

    acc = jnp.full((32, 128), 0.0, jnp.float32)  # split_k.py:16
    v = jnp.minimum(outer_begin + 250, 1000)  # split_k.py:17
    tile_k_first = outer_begin >> 7  # split_k.py:17
    tile_k_blocks = jnp.where(v > outer_begin, v - tile_k_first * 128 + 127 >> 7, 0)  # split_k.py:17

    def tile_k_number_body(tile_k_number, acc_2):  # split_k.py:17
        v_2 = tile_k_first + tile_k_number  # split_k.py:17
        tile_k_begin = jnp.minimum(v_2, 7) * 128  # split_k.py:17
        tile_k_start = jnp.maximum(outer_begin, v_2 * 128)  # split_k.py:17
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # split_k.py:18
        y = y_ref[pl.ds(pl.multiple_of(tile_k_begin, 128), 128), :]  # split_k.py:18
        v_3 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)  # split_k.py:17
        inside = (  # split_k.py:17
            (v_3 >= jnp.full((32, 128), tile_k_start, jnp.int32)) & (v_3 < jnp.full((32, 128), v, jnp.int32))
        )
        v_4 = jnp.where(inside, x, 0.0)  # split_k.py:17
        v_5 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # split_k.py:17
        inside_2 = (  # split_k.py:17
            (v_5 >= jnp.full((128, 128), tile_k_start, jnp.int32)) & (v_5 < jnp.full((128, 128), v, jnp.int32))
        )
        v_6 = jnp.where(inside_2, y, 0.0)  # split_k.py:17
        acc_3 = acc_2 + jnp.dot(  # split_k.py:18
            v_4, v_6, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, tile_k_blocks, tile_k_number_body, acc)  # split_k.py:17
    old = out_acc_ref[...]  # split_k.py:19
    new = old + acc_4  # split_k.py:19
    out_acc_ref[...] = new  # split_k.py:19

    @pl.when(outer == 3)  # split_k.py:19
    def _():
        out = out_acc_ref[...]  # split_k.py:19
        out_ref[...] = out  # split_k.py:19


def split_matmul(x, y):
    v = jnp.pad(x, [(0, 0), (0, 24)])  # split_k.py:15
    v_2 = jnp.pad(y, [(0, 24), (0, 0)])  # split_k.py:15
    out = pl.pallas_call(  # split_k.py:15
        split_matmul_kernel,
        grid=(3, 3, 4),
        in_specs=[
            pl.BlockSpec((32, 1024), lambda tile_n, tile_m, outer: (tile_m, 0)),
            pl.BlockSpec((1024, 128), lambda tile_n, tile_m, outer: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_m, outer: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        scratch_shapes=[pltpu.VMEM((32, 128), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
        name="split_matmul",
    )(v, v_2)
    return out
