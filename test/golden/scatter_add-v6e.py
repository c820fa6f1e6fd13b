"""scatter_add: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def scatter_add_kernel(rows_ref, x_ref, out_ref, new_out_ref):
    old = out_ref[...]
    new_out_ref[...] = old
    v = rows_ref[...]  # scatter_add.py:10
    v_2 = x_ref[...]  # scatter_add.py:10
    v_3 = v >= 0  # scatter_add.py:10
    v_4 = v < 2048  # scatter_add.py:10
    v_5 = v_3 & v_4  # scatter_add.py:10
    v_6 = jnp.minimum(v, 2047)  # scatter_add.py:10
    v_7 = jnp.maximum(v_6, 0)  # scatter_add.py:10
    row_numbers = jnp.where(v_5, v_7, (-1))  # scatter_add.py:10
    v_8 = v_2.astype(jnp.float32)  # scatter_add.py:10
    v_9 = jnp.abs(v_8)  # scatter_add.py:10
    v_10 = v_9 < jnp.inf  # scatter_add.py:10
    v_11 = jnp.full((256, 512), 0.0, jnp.float32)  # scatter_add.py:10
    v_12 = jnp.where(v_10, v_8, 0.0)  # scatter_add.py:10

    def n_body(n, _):  # scatter_add.py:10
        n_begin = n * 512  # scatter_add.py:10
        v_13 = n_begin + jax.lax.broadcasted_iota(jnp.int32, (512, 256), 0)  # scatter_add.py:10
        v_14 = jnp.broadcast_to(row_numbers, (512, 256))  # scatter_add.py:10
        v_15 = v_13 == v_14  # scatter_add.py:10
        v_16 = jnp.full((512, 256), 1.0, jnp.float32)  # scatter_add.py:10
        v_17 = jnp.full((512, 256), 0.0, jnp.float32)  # scatter_add.py:10
        hot = jnp.where(v_15, v_16, v_17)  # scatter_add.py:10
        v_18 = hot.astype(jnp.bfloat16)  # scatter_add.py:10
        v_19 = v_12.astype(jnp.bfloat16)  # scatter_add.py:10
        v_20 = jnp.dot(v_18, v_19, preferred_element_type=jnp.float32)  # scatter_add.py:10
        old_2 = new_out_ref[pl.ds(pl.multiple_of(n_begin, 512), 512), :]  # scatter_add.py:10
        new = old_2 + v_20  # scatter_add.py:10
        new_out_ref[pl.ds(pl.multiple_of(n_begin, 512), 512), :] = new  # scatter_add.py:10
        return None

    jax.lax.fori_loop(0, 4, n_body, None)  # scatter_add.py:10
    v_21 = v_10.astype(jnp.int32)  # scatter_add.py:10
    v_22 = jnp.min(v_21, axis=(0, 1))  # scatter_add.py:10
    v_23 = v_22 == 0  # scatter_add.py:10

    @pl.when(v_23)  # scatter_add.py:10
    def _():
        def n_body_2(n_2, _):  # scatter_add.py:10
            n_begin_2 = n_2 * 512  # scatter_add.py:10
            v_24 = n_begin_2 + jax.lax.broadcasted_iota(jnp.int32, (512, 256), 0)  # scatter_add.py:10
            v_25 = jnp.broadcast_to(row_numbers, (512, 256))  # scatter_add.py:10
            v_26 = v_24 == v_25  # scatter_add.py:10
            v_27 = jnp.full((512, 256), 1.0, jnp.float32)  # scatter_add.py:10
            v_28 = jnp.full((512, 256), 0.0, jnp.float32)  # scatter_add.py:10
            hot_2 = jnp.where(v_26, v_27, v_28)  # scatter_add.py:10
            v_29 = v_8 == jnp.inf  # scatter_add.py:10
            v_30 = jnp.full((256, 512), 1.0, jnp.float32)  # scatter_add.py:10
            v_31 = jnp.where(v_29, v_30, v_11)  # scatter_add.py:10
            v_32 = v_8 == (-jnp.inf)  # scatter_add.py:10
            v_33 = jnp.where(v_32, 4096.0, v_31)  # scatter_add.py:10
            v_34 = jnp.isnan(v_8)  # scatter_add.py:10
            v_35 = jnp.where(v_34, 16777216.0, v_33)  # scatter_add.py:10
            v_36 = hot_2.astype(jnp.bfloat16)  # scatter_add.py:10
            v_37 = v_35.astype(jnp.bfloat16)  # scatter_add.py:10
            v_38 = jnp.dot(v_36, v_37, preferred_element_type=jnp.float32)  # scatter_add.py:10
            v_39 = v_38 * 0.000244140625  # scatter_add.py:10
            v_40 = jnp.floor(v_39)  # scatter_add.py:10
            v_41 = v_40 * 4096.0  # scatter_add.py:10
            v_42 = v_38 - v_41  # scatter_add.py:10
            v_43 = jnp.full((512, 512), 0.0, jnp.float32)  # scatter_add.py:10
            v_44 = v_42 > 0.0  # scatter_add.py:10
            v_45 = jnp.full((512, 512), jnp.inf, jnp.float32)  # scatter_add.py:10
            v_46 = jnp.where(v_44, v_45, v_43)  # scatter_add.py:10
            v_47 = v_40 > 0.0  # scatter_add.py:10
            v_48 = jnp.where(v_47, (-jnp.inf), v_46)  # scatter_add.py:10
            v_49 = v_44 & v_47  # scatter_add.py:10
            v_50 = v_38 >= 16777216.0  # scatter_add.py:10
            v_51 = v_49 | v_50  # scatter_add.py:10
            v_52 = jnp.where(v_51, jnp.nan, v_48)  # scatter_add.py:10
            old_3 = new_out_ref[pl.ds(pl.multiple_of(n_begin_2, 512), 512), :]  # scatter_add.py:10
            new_2 = old_3 + v_52  # scatter_add.py:10
            new_out_ref[pl.ds(pl.multiple_of(n_begin_2, 512), 512), :] = new_2  # scatter_add.py:10
            return None

        jax.lax.fori_loop(0, 4, n_body_2, None)  # scatter_add.py:10


def scatter_add(out, rows, x):
    out_2 = out.astype(jnp.float32)  # scatter_add.py:9
    out_3 = pl.pallas_call(  # scatter_add.py:9
        scatter_add_kernel,
        grid=(1, 1),
        in_specs=[
            pl.BlockSpec((256,), lambda cols, tile: (tile,)),
            pl.BlockSpec((256, 512), lambda cols, tile: (tile, cols)),
            pl.BlockSpec((2048, 512), lambda cols, tile: (0, cols)),
        ],
        out_specs=pl.BlockSpec((2048, 512), lambda cols, tile: (0, cols)),
        out_shape=jax.ShapeDtypeStruct((2048, 512), jnp.float32),
        input_output_aliases={2: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=47202304),
        name="scatter_add",
    )(rows, x, out_2)
    out_4 = out_3.astype(jnp.bfloat16)  # scatter_add.py:9
    return out_4
