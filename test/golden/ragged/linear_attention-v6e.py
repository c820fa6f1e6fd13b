"""linear_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def linear_attention_kernel(decay_ref, q_ref, k_ref, v_ref, out_ref):
    tile_h = pl.program_id(1)
    rate = decay_ref[tile_h]  # linear_attention.py:20
    state = jnp.full((64, 128), 0.0, jnp.float32)  # linear_attention.py:21

    def tile_t_body(tile_t, state_2):  # linear_attention.py:22
        tile_t_begin = tile_t * 32  # linear_attention.py:22
        queries = q_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:23
        keys = k_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:23
        values = v_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:23
        v = jnp.broadcast_to(jnp.asarray(tile_t_begin, jnp.int32), (32,))  # linear_attention.py:24
        age = tile_t_begin + jax.lax.broadcasted_iota(jnp.int32, (32,), 0) - v  # linear_attention.py:24
        apart = (  # linear_attention.py:25
            jnp.broadcast_to(age.reshape((32, 1)), (32, 32)) - jnp.broadcast_to(age.reshape((1, 32)), (32, 32))
        )
        v_2 = keys.T  # linear_attention.py:26
        scores = jnp.dot(  # linear_attention.py:26
            queries, v_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        v_3 = jnp.exp(jnp.broadcast_to(rate, (32, 32)) * apart.astype(jnp.float32))  # linear_attention.py:27
        scores_2 = jnp.where(apart >= 0, scores * v_3, 0.0)  # linear_attention.py:27
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 32), 1) < 100 - tile_t_begin  # linear_attention.py:28
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) < 100 - tile_t_begin  # linear_attention.py:28
        recent = jnp.dot(  # linear_attention.py:28
            jnp.where(inside, scores_2, 0.0),
            jnp.where(inside_2, values, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        before = jnp.dot(  # linear_attention.py:29
            queries, state_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        v_4 = jnp.broadcast_to(rate, (32,))  # linear_attention.py:30
        v_5 = jnp.exp(v_4 * (age + 1).astype(jnp.float32)).reshape((32, 1))  # linear_attention.py:30
        out_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :] = (  # linear_attention.py:30
            recent + before * jnp.broadcast_to(v_5, (32, 128))
        )
        v_6 = jnp.exp(v_4 * (31 - age).astype(jnp.float32)).reshape((32, 1))  # linear_attention.py:31
        late = values * jnp.broadcast_to(v_6, (32, 128))  # linear_attention.py:31
        v_7 = state_2 * jnp.broadcast_to(jnp.exp2(rate * 46.16624), (64, 128))  # linear_attention.py:32
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (64, 32), 1) < 100 - tile_t_begin  # linear_attention.py:32
        inside_4 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) < 100 - tile_t_begin  # linear_attention.py:32
        state_3 = v_7 + jnp.dot(  # linear_attention.py:32
            jnp.where(inside_3, v_2, 0.0),
            jnp.where(inside_4, late, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return state_3

    state_4 = jax.lax.fori_loop(0, 4, tile_t_body, state, unroll=4)  # linear_attention.py:22


def linear_attention(q, k, v, decay):
    out = pl.pallas_call(  # linear_attention.py:18
        linear_attention_kernel,
        grid=(2, 3, 1),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, None, 128, 64), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, 0)),
            pl.BlockSpec((None, None, 128, 64), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, 0)),
            pl.BlockSpec((None, None, 128, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, tile_w)),
        ],
        out_specs=pl.BlockSpec((None, None, 128, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, tile_w)),
        out_shape=jax.ShapeDtypeStruct((2, 3, 100, 100), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="linear_attention",
    )(decay, q, k, v)
    return out
