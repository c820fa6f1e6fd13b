"""chunk_scan: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def chunk_scan_kernel(decay_ref, c_ref, states_ref, cb_ref, steps_ref, x_ref, skip_ref, out_ref):
    tile_m = pl.program_id(1)
    tile_m_begin = tile_m * 128
    tile_c = pl.program_id(4)
    v = decay_ref[0, pl.ds(pl.multiple_of(tile_m_begin, 128), 128)]  # state_space.py:44
    mine = v.astype(jnp.float32)  # state_space.py:44
    v_2 = tile_m_begin + jax.lax.broadcasted_iota(jnp.int32, (128,), 0)  # state_space.py:45
    tile_m_begin_2 = tile_m * 128 + tile_c * 256  # state_space.py:45
    v_4 = c_ref[...]  # state_space.py:45
    v_5 = states_ref[...]  # state_space.py:45
    v_6 = v_5.T  # state_space.py:45
    before = jnp.dot(v_4, v_6, preferred_element_type=jnp.float32)  # state_space.py:45
    v_7 = jnp.exp(mine)  # state_space.py:46
    v_8 = v_7.reshape((128, 1))  # state_space.py:46
    v_9 = jnp.broadcast_to(v_8, (128, 64))  # state_space.py:46
    acc = before * v_9  # state_space.py:46
    v_10 = tile_m + 1  # state_space.py:47
    v_11 = v_10 * 128  # state_space.py:47
    tile_k_count = pl.cdiv(v_11, 128)  # state_space.py:47

    def tile_k_body(tile_k, acc_2):  # state_space.py:47
        tile_k_begin = tile_k * 128  # state_space.py:47
        v_12 = decay_ref[0, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # state_space.py:48
        theirs = v_12.astype(jnp.float32)  # state_space.py:48
        v_13 = cb_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # state_space.py:49
        v_14 = mine.reshape((128, 1))  # state_space.py:49
        v_15 = theirs.reshape((1, 128))  # state_space.py:49
        v_16 = jnp.broadcast_to(v_14, (128, 128))  # state_space.py:49
        v_17 = jnp.broadcast_to(v_15, (128, 128))  # state_space.py:49
        v_18 = v_16 - v_17  # state_space.py:49
        v_19 = jnp.exp(v_18)  # state_space.py:49
        v_20 = v_13.astype(jnp.float32)  # state_space.py:49
        weights = v_20 * v_19  # state_space.py:49
        v_21 = steps_ref[0, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # state_space.py:50
        v_22 = v_21.astype(jnp.float32)  # state_space.py:50
        v_23 = v_22.reshape((1, 128))  # state_space.py:50
        v_24 = jnp.broadcast_to(v_23, (128, 128))  # state_space.py:50
        weights_2 = weights * v_24  # state_space.py:50
        v_25 = v_2.reshape((128, 1))  # state_space.py:51
        v_26 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (128,), 0)  # state_space.py:51
        v_27 = v_26.reshape((1, 128))  # state_space.py:51
        v_28 = jnp.broadcast_to(v_25, (128, 128))  # state_space.py:51
        v_29 = jnp.broadcast_to(v_27, (128, 128))  # state_space.py:51
        v_30 = v_28 >= v_29  # state_space.py:51
        weights_3 = jnp.where(v_30, weights_2, 0.0)  # state_space.py:51
        tile_k_begin_2 = tile_k * 128 + tile_c * 256  # state_space.py:52
        v_31 = x_ref[pl.ds(pl.multiple_of(tile_k_begin_2, 128), 128), :]  # state_space.py:52
        inside = (jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < (v_11 - tile_k_begin))  # state_space.py:52
        v_32 = jnp.where(inside, weights_3, 0.0)  # state_space.py:52
        v_33 = v_32.astype(jnp.bfloat16)  # state_space.py:52
        inside_2 = (jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < (v_11 - tile_k_begin))  # state_space.py:52
        v_34 = jnp.where(inside_2, v_31, 0.0)  # state_space.py:52
        acc_3 = acc_2 + jnp.dot(v_33, v_34, preferred_element_type=jnp.float32)  # state_space.py:52
        return acc_3

    acc_4 = jax.lax.fori_loop(0, tile_k_count, tile_k_body, acc)  # state_space.py:47
    v_35 = x_ref[pl.ds(pl.multiple_of(tile_m_begin_2, 128), 128), :]  # state_space.py:53
    inputs = v_35.astype(jnp.float32)  # state_space.py:53
    v_36 = skip_ref[0, :]  # state_space.py:54
    v_37 = v_36.astype(jnp.float32)  # state_space.py:54
    v_38 = v_37.reshape(())  # state_space.py:54
    v_39 = jnp.broadcast_to(v_38, (128, 64))  # state_space.py:54
    v_40 = inputs * v_39  # state_space.py:54
    v_41 = acc_4 + v_40  # state_space.py:54
    v_42 = v_41.astype(jnp.bfloat16)  # state_space.py:54
    out_ref[...] = v_42  # state_space.py:54


def chunk_scan(cb, x, steps, decay, c, states, skip):
    decay_2 = decay.reshape((8, 80, 16, 1, 256))  # state_space.py:40
    c_2 = jnp.transpose(c, (2, 0, 1, 3))  # state_space.py:40
    steps_2 = steps.reshape((8, 80, 16, 1, 256))  # state_space.py:40
    x_2 = jnp.transpose(x, (2, 0, 1, 3))  # state_space.py:40
    skip_2 = skip.reshape((80, 1, 1))  # state_space.py:40
    out = pl.pallas_call(  # state_space.py:40
        chunk_scan_kernel,
        grid=(80, 2, 1, 8, 16),
        in_specs=[
            pl.BlockSpec((None, None, None, 1, 256), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0)),
            pl.BlockSpec((None, None, 128, 128), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (0, tile_n, (tile_m + (tile_c * 2)), 0)),
            pl.BlockSpec((None, None, None, 64, 128), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, tile_h, tile_w, 0)),
            pl.BlockSpec((None, None, None, 128, 256), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, 0, tile_m, 0)),
            pl.BlockSpec((None, None, None, 1, 256), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0)),
            pl.BlockSpec((None, None, 4096, 64), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, 0, tile_w)),
            pl.BlockSpec((None, 1, 1), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, 0, 0)),
        ],
        out_specs=pl.BlockSpec((None, None, 128, 64), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, (tile_m + (tile_c * 2)), tile_w)),
        out_shape=jax.ShapeDtypeStruct((80, 8, 4096, 64), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary", "arbitrary", "arbitrary", "arbitrary")),
        name="chunk_scan",
    )(decay_2, c_2, states, cb, steps_2, x_2, skip_2)
    out_2 = jnp.transpose(out, (1, 2, 0, 3))  # state_space.py:40
    return out_2
