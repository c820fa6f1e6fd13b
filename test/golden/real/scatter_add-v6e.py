"""scatter_add: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def scatter_add_kernel(rows_ref, x_ref, out_ref, new_out_ref):
    old = out_ref[...]
    new_out_ref[...] = old
    rows = rows_ref[...]  # scatter_add.py:10
    x = x_ref[...]  # scatter_add.py:10
    row_numbers = jnp.where(  # scatter_add.py:10
        (rows >= 0) & (rows < 2048), jnp.maximum(jnp.minimum(rows, 2047), 0), -1
    )
    v = x.astype(jnp.float32)  # scatter_add.py:10
    v_2 = jnp.abs(v) < jnp.inf  # scatter_add.py:10
    v_3 = jnp.full((256, 256), 0.0, jnp.float32)  # scatter_add.py:10
    v_4 = jnp.where(v_2, v, 0.0)  # scatter_add.py:10

    def n_body(n, _):  # scatter_add.py:10
        n_begin = n * 512  # scatter_add.py:10
        v_5 = (  # scatter_add.py:10
            n_begin + jax.lax.broadcasted_iota(jnp.int32, (512, 256), 0) == jnp.broadcast_to(row_numbers, (512, 256))
        )
        hot = jnp.where(  # scatter_add.py:10
            v_5, jnp.full((512, 256), 1.0, jnp.float32), jnp.full((512, 256), 0.0, jnp.float32)
        )
        v_6 = jnp.dot(  # scatter_add.py:10
            hot.astype(jnp.bfloat16), v_4.astype(jnp.bfloat16), preferred_element_type=jnp.float32
        )
        old_2 = new_out_ref[pl.ds(pl.multiple_of(n_begin, 512), 512), :]  # scatter_add.py:10
        new = old_2 + v_6  # scatter_add.py:10
        new_out_ref[pl.ds(pl.multiple_of(n_begin, 512), 512), :] = new  # scatter_add.py:10
        return None

    jax.lax.fori_loop(0, 4, n_body, None, unroll=4)  # scatter_add.py:10

    @pl.when(jnp.min(v_2.astype(jnp.int32), axis=(0, 1)) == 0)  # scatter_add.py:10
    def _():
        def n_body_2(n_2, _):  # scatter_add.py:10
            n_begin_2 = n_2 * 512  # scatter_add.py:10
            v_7 = n_begin_2 + jax.lax.broadcasted_iota(jnp.int32, (512, 256), 0)  # scatter_add.py:10
            hot_2 = jnp.where(  # scatter_add.py:10
                v_7 == jnp.broadcast_to(row_numbers, (512, 256)),
                jnp.full((512, 256), 1.0, jnp.float32),
                jnp.full((512, 256), 0.0, jnp.float32),
            )
            v_8 = jnp.where(v == jnp.inf, jnp.full((256, 256), 1.0, jnp.float32), v_3)  # scatter_add.py:10
            v_9 = jnp.where(jnp.isnan(v), 16777216.0, jnp.where(v == -jnp.inf, 4096.0, v_8))  # scatter_add.py:10
            v_10 = jnp.dot(  # scatter_add.py:10
                hot_2.astype(jnp.bfloat16), v_9.astype(jnp.bfloat16), preferred_element_type=jnp.float32
            )
            v_11 = jnp.floor(v_10 * 0.00024414062)  # scatter_add.py:10
            v_12 = jnp.full((512, 256), 0.0, jnp.float32)  # scatter_add.py:10
            v_13 = v_10 - v_11 * 4096.0 > 0.0  # scatter_add.py:10
            v_14 = jnp.where(v_13, jnp.full((512, 256), jnp.inf, jnp.float32), v_12)  # scatter_add.py:10
            v_15 = v_11 > 0.0  # scatter_add.py:10
            v_16 = jnp.where(  # scatter_add.py:10
                v_13 & v_15 | (v_10 >= 16777216.0), jnp.nan, jnp.where(v_15, -jnp.inf, v_14)
            )
            old_3 = new_out_ref[pl.ds(pl.multiple_of(n_begin_2, 512), 512), :]  # scatter_add.py:10
            new_2 = old_3 + v_16  # scatter_add.py:10
            new_out_ref[pl.ds(pl.multiple_of(n_begin_2, 512), 512), :] = new_2  # scatter_add.py:10
            return None

        jax.lax.fori_loop(0, 4, n_body_2, None)  # scatter_add.py:10


def scatter_add(out, rows, x):
    out_2 = out.astype(jnp.float32)  # scatter_add.py:9
    out_3 = pl.pallas_call(  # scatter_add.py:9
        scatter_add_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((256,), lambda cols, tile: (tile,)),
            pl.BlockSpec((256, 256), lambda cols, tile: (tile, cols)),
            pl.BlockSpec((2048, 256), lambda cols, tile: (0, cols)),
        ],
        out_specs=pl.BlockSpec((2048, 256), lambda cols, tile: (0, cols)),
        out_shape=jax.ShapeDtypeStruct((2048, 512), jnp.float32),
        input_output_aliases={2: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
        name="scatter_add",
    )(rows, x, out_2)
    out_4 = out_3.astype(jnp.bfloat16)  # scatter_add.py:9
    return out_4
