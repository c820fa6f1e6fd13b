"""chunk_scan: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def chunk_scan_kernel(decay_ref, c_ref, states_ref, cb_ref, steps_ref, x_ref, skip_ref, out_ref):
    tile_h = pl.program_id(0)
    tile_m = pl.program_id(1)
    tile_c = pl.program_id(4)

    @pl.when(tile_m == 0)  # state_space.py:40
    def _():
        begin = tile_c * 128  # state_space.py:43
        decay = decay_ref[0, :]  # state_space.py:44
        mine = decay[0:64]  # state_space.py:44
        tile_m_begin_2 = tile_m * 64 + tile_c * 128  # state_space.py:45
        c = c_ref[...]  # state_space.py:45
        states = states_ref[...]  # state_space.py:45
        before = jnp.dot(  # state_space.py:45
            c, states, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        acc = before * jnp.broadcast_to(jnp.exp(mine).reshape((64, 1)), (64, 64))  # state_space.py:46
        theirs = decay_ref[0, :]  # state_space.py:48
        cb = cb_ref[...]  # state_space.py:49
        v = (  # state_space.py:49
            jnp.broadcast_to(mine.reshape((64, 1)), (64, 128)) - jnp.broadcast_to(theirs.reshape((1, 128)), (64, 128))
        )
        weights = cb * jnp.exp(v)  # state_space.py:49
        steps = steps_ref[0, :]  # state_space.py:50
        weights_2 = weights * jnp.broadcast_to(steps.reshape((1, 128)), (64, 128))  # state_space.py:50
        v_2 = (  # state_space.py:51
            jax.lax.broadcasted_iota(jnp.int32, (64, 128), 0) >= jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1)
        )
        weights_3 = jnp.where(v_2, weights_2, 0.0)  # state_space.py:51
        x = x_ref[pl.ds(pl.multiple_of(begin, 128), 128), :]  # state_space.py:52
        inside = jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1) < 64  # state_space.py:52
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < 64  # state_space.py:52
        acc_2 = acc + jnp.dot(  # state_space.py:52
            jnp.where(inside, weights_3, 0.0),
            jnp.where(inside_2, x, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        inputs = x_ref[pl.ds(pl.multiple_of(tile_m_begin_2, 64), 64), :]  # state_space.py:53
        skip = skip_ref[tile_h]  # state_space.py:54
        out_ref[...] = acc_2 + inputs * jnp.broadcast_to(skip, (64, 64))  # state_space.py:54

    @pl.when(tile_m == 1)  # state_space.py:40
    def _():
        begin_2 = tile_c * 128  # state_space.py:43
        decay_2 = decay_ref[0, :]  # state_space.py:44
        mine_2 = decay_2[64:128]  # state_space.py:44
        tile_m_begin_3 = tile_m * 64 + tile_c * 128  # state_space.py:45
        c_2 = c_ref[...]  # state_space.py:45
        states_2 = states_ref[...]  # state_space.py:45
        before_2 = jnp.dot(  # state_space.py:45
            c_2, states_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        acc_3 = before_2 * jnp.broadcast_to(jnp.exp(mine_2).reshape((64, 1)), (64, 64))  # state_space.py:46
        theirs_2 = decay_ref[0, :]  # state_space.py:48
        cb_2 = cb_ref[...]  # state_space.py:49
        v_3 = (  # state_space.py:49
            jnp.broadcast_to(mine_2.reshape((64, 1)), (64, 128))
            - jnp.broadcast_to(theirs_2.reshape((1, 128)), (64, 128))
        )
        weights_4 = cb_2 * jnp.exp(v_3)  # state_space.py:49
        steps_2 = steps_ref[0, :]  # state_space.py:50
        weights_5 = weights_4 * jnp.broadcast_to(steps_2.reshape((1, 128)), (64, 128))  # state_space.py:50
        v_4 = (  # state_space.py:51
            jax.lax.broadcasted_iota(jnp.int32, (64, 128), 0) >= -64 + jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1)
        )
        weights_6 = jnp.where(v_4, weights_5, 0.0)  # state_space.py:51
        x_2 = x_ref[pl.ds(pl.multiple_of(begin_2, 128), 128), :]  # state_space.py:52
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (64, 128), 1) < 128  # state_space.py:52
        inside_4 = jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < 128  # state_space.py:52
        acc_4 = acc_3 + jnp.dot(  # state_space.py:52
            jnp.where(inside_3, weights_6, 0.0),
            jnp.where(inside_4, x_2, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        inputs_2 = x_ref[pl.ds(pl.multiple_of(tile_m_begin_3, 64), 64), :]  # state_space.py:53
        skip_2 = skip_ref[tile_h]  # state_space.py:54
        out_ref[...] = acc_4 + inputs_2 * jnp.broadcast_to(skip_2, (64, 64))  # state_space.py:54


def chunk_scan(cb, x, steps, decay, c, states, skip):
    states_2 = jnp.transpose(states, (0, 1, 2, 4, 3))  # state_space.py:40
    decay_2 = decay.reshape((1, 4, 2, 1, 128))  # state_space.py:40
    c_2 = jnp.transpose(c, (2, 0, 1, 3))  # state_space.py:40
    steps_2 = steps.reshape((1, 4, 2, 1, 128))  # state_space.py:40
    x_2 = jnp.transpose(x, (2, 0, 1, 3))  # state_space.py:40
    out = pl.pallas_call(  # state_space.py:40
        chunk_scan_kernel,
        grid=(4, 2, 1, 1, 2),
        in_specs=[
            pl.BlockSpec(
                (None, None, None, 1, 128),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, 64, 32),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h // 2, tile_n, tile_m + tile_c * 2, 0),
            ),
            pl.BlockSpec(
                (None, None, None, 32, 64),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, tile_h, 0, tile_w),
            ),
            pl.BlockSpec(
                (None, None, None, 64, 128),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, tile_h // 2, tile_m, 0),
            ),
            pl.BlockSpec(
                (None, None, None, 1, 128),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, 256, 64), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, 0, tile_w)
            ),
            pl.BlockSpec(memory_space=pltpu.SMEM),
        ],
        out_specs=pl.BlockSpec(
            (None, None, 64, 64),
            lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, tile_m + tile_c * 2, tile_w),
        ),
        out_shape=jax.ShapeDtypeStruct((4, 1, 256, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "arbitrary", "arbitrary", "arbitrary", "arbitrary")
        ),
        name="chunk_scan",
    )(decay_2, c_2, states_2, cb, steps_2, x_2, skip)
    out_2 = jnp.transpose(out, (1, 2, 0, 3))  # state_space.py:40
    return out_2
