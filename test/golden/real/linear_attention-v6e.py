"""linear_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def linear_attention_kernel(decay_ref, q_ref, k_ref, v_ref, out_ref):
    tile_h = pl.program_id(1)
    rate = decay_ref[tile_h]  # linear_attention.py:20
    state = jnp.full((128, 128), 0.0, jnp.float32)  # linear_attention.py:21

    def tile_t_body(tile_t, state_2):  # linear_attention.py:22
        tile_t_begin = tile_t * 128  # linear_attention.py:22
        queries = q_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:23
        keys = k_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:23
        values = v_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:23
        v = tile_t_begin + jax.lax.broadcasted_iota(jnp.int32, (128,), 0)  # linear_attention.py:24
        v_2 = jnp.broadcast_to(jnp.asarray(tile_t_begin, jnp.int32), (128,))  # linear_attention.py:24
        age = v - v_2  # linear_attention.py:24
        apart = (  # linear_attention.py:25
            jnp.broadcast_to(age.reshape((128, 1)), (128, 128)) - jnp.broadcast_to(age.reshape((1, 128)), (128, 128))
        )
        v_3 = keys.T  # linear_attention.py:26
        scores = jnp.dot(queries, v_3, preferred_element_type=jnp.float32)  # linear_attention.py:26
        v_4 = jnp.broadcast_to(rate, (128, 128)) * apart.astype(jnp.float32)  # linear_attention.py:27
        scores_2 = jnp.where(apart >= 0, scores * jnp.exp(v_4), 0.0)  # linear_attention.py:27
        recent = jnp.dot(  # linear_attention.py:28
            scores_2.astype(jnp.bfloat16), values, preferred_element_type=jnp.float32
        )
        before = jnp.dot(  # linear_attention.py:29
            queries, state_2.astype(jnp.bfloat16), preferred_element_type=jnp.float32
        )
        v_5 = jnp.broadcast_to(rate, (128,))  # linear_attention.py:30
        v_6 = jnp.exp(v_5 * (age + 1).astype(jnp.float32)).reshape((128, 1))  # linear_attention.py:30
        out_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :] = (  # linear_attention.py:30
            recent + before * jnp.broadcast_to(v_6, (128, 128))
        ).astype(jnp.bfloat16)
        v_7 = jnp.exp(v_5 * (127 - age).astype(jnp.float32)).reshape((128, 1))  # linear_attention.py:31
        v_8 = values.astype(jnp.float32) * jnp.broadcast_to(v_7, (128, 128))  # linear_attention.py:31
        late = v_8.astype(jnp.bfloat16)  # linear_attention.py:31
        v_9 = state_2 * jnp.broadcast_to(jnp.exp2(rate * 184.66496), (128, 128))  # linear_attention.py:32
        state_3 = v_9 + jnp.dot(v_3, late, preferred_element_type=jnp.float32)  # linear_attention.py:32
        return state_3

    state_4 = jax.lax.fori_loop(0, 16, tile_t_body, state, unroll=8)  # linear_attention.py:22


def linear_attention(q, k, v, decay):
    out = pl.pallas_call(  # linear_attention.py:18
        linear_attention_kernel,
        grid=(2, 16, 1),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, 0)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, 0)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, tile_w)),
        ],
        out_specs=pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_b, tile_h, 0, tile_w)),
        out_shape=jax.ShapeDtypeStruct((2, 16, 2048, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="linear_attention",
    )(decay, q, k, v)
    return out
