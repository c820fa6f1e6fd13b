"""chunk_scan: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def chunk_scan_kernel(decay_ref, c_ref, states_ref, cb_ref, steps_ref, x_ref, skip_ref, out_ref):
    tile_c = pl.program_id(4)
    begin = tile_c * 256  # state_space.py:43
    decay = decay_ref[0, :]  # state_space.py:44
    mine = decay.astype(jnp.float32)  # state_space.py:44
    c = c_ref[...]  # state_space.py:45
    states = states_ref[...]  # state_space.py:45
    before = jnp.dot(c, states.T, preferred_element_type=jnp.float32)  # state_space.py:45
    acc = before * jnp.broadcast_to(jnp.exp(mine).reshape((256, 1)), (256, 64))  # state_space.py:46
    tile_k_count = pl.cdiv(256, 256)  # state_space.py:47

    def tile_k_body(tile_k, acc_2):  # state_space.py:47
        tile_k_begin = tile_k * 256  # state_space.py:47
        decay_2 = decay_ref[0, :]  # state_space.py:48
        theirs = decay_2.astype(jnp.float32)  # state_space.py:48
        cb = cb_ref[...]  # state_space.py:49
        v = (  # state_space.py:49
            jnp.broadcast_to(mine.reshape((256, 1)), (256, 256))
            - jnp.broadcast_to(theirs.reshape((1, 256)), (256, 256))
        )
        weights = cb.astype(jnp.float32) * jnp.exp(v)  # state_space.py:49
        steps = steps_ref[0, :]  # state_space.py:50
        v_2 = jnp.broadcast_to(steps.astype(jnp.float32).reshape((1, 256)), (256, 256))  # state_space.py:50
        weights_2 = weights * v_2  # state_space.py:50
        v_3 = tile_k_begin + jax.lax.broadcasted_iota(jnp.int32, (256, 256), 1)  # state_space.py:51
        weights_3 = jnp.where(  # state_space.py:51
            jax.lax.broadcasted_iota(jnp.int32, (256, 256), 0) >= v_3, weights_2, 0.0
        )
        x = x_ref[pl.ds(pl.multiple_of(begin, 256), 256), :]  # state_space.py:52
        inside = jax.lax.broadcasted_iota(jnp.int32, (256, 256), 1) < 256 - tile_k_begin  # state_space.py:52
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (256, 64), 0) < 256 - tile_k_begin  # state_space.py:52
        acc_3 = acc_2 + jnp.dot(  # state_space.py:52
            jnp.where(inside, weights_3, 0.0).astype(jnp.bfloat16),
            jnp.where(inside_2, x, 0.0),
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, tile_k_count, tile_k_body, acc)  # state_space.py:47
    x_2 = x_ref[pl.ds(pl.multiple_of(begin, 256), 256), :]  # state_space.py:53
    inputs = x_2.astype(jnp.float32)  # state_space.py:53
    skip = skip_ref[0, :]  # state_space.py:54
    v_4 = jnp.broadcast_to(skip.astype(jnp.float32).reshape(()), (256, 64))  # state_space.py:54
    out_ref[...] = (acc_4 + inputs * v_4).astype(jnp.bfloat16)  # state_space.py:54


def chunk_scan(cb, x, steps, decay, c, states, skip):
    c_2 = jnp.transpose(c, (0, 2, 1, 3))  # state_space.py:40
    decay_2 = decay.reshape((8, 80, 16, 1, 256))  # state_space.py:40
    steps_2 = steps.reshape((8, 80, 16, 1, 256))  # state_space.py:40
    x_2 = jnp.transpose(x, (2, 0, 1, 3))  # state_space.py:40
    skip_2 = skip.reshape((80, 1, 1))  # state_space.py:40
    out = pl.pallas_call(  # state_space.py:40
        chunk_scan_kernel,
        grid=(80, 1, 1, 8, 16),
        in_specs=[
            pl.BlockSpec(
                (None, None, None, 1, 256),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, 256, 128), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, 0, tile_m + tile_c, 0)
            ),
            pl.BlockSpec(
                (None, None, None, 64, 128),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, tile_h, tile_w, 0),
            ),
            pl.BlockSpec(
                (None, None, None, 256, 256),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_c, 0, tile_m, 0),
            ),
            pl.BlockSpec(
                (None, None, None, 1, 256),
                lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, 4096, 64), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, 0, tile_w)
            ),
            pl.BlockSpec((None, 1, 1), lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, 0, 0)),
        ],
        out_specs=pl.BlockSpec(
            (None, None, 256, 64),
            lambda tile_h, tile_m, tile_w, tile_n, tile_c: (tile_h, tile_n, tile_m + tile_c, tile_w),
        ),
        out_shape=jax.ShapeDtypeStruct((80, 8, 4096, 64), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "arbitrary", "arbitrary", "arbitrary", "arbitrary")
        ),
        name="chunk_scan",
    )(decay_2, c_2, states, cb, steps_2, x_2, skip_2)
    out_2 = jnp.transpose(out, (1, 2, 0, 3))  # state_space.py:40
    return out_2
