"""delta_states: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def delta_states_kernel(weights_ref, decay_ref, values_ref, keys_ref, states_ref):
    state = jnp.full((128, 128), 0.0, jnp.float32)  # linear_attention.py:64

    def tile_t_body(tile_t, state_2):  # linear_attention.py:65
        tile_t_begin = tile_t * 128  # linear_attention.py:65
        v = state_2.astype(jnp.bfloat16)  # linear_attention.py:66
        states_ref[tile_t, :, :] = v  # linear_attention.py:66
        weights = weights_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:67
        said = jnp.dot(weights, v, preferred_element_type=jnp.float32)  # linear_attention.py:67
        decay = decay_ref[0, pl.ds(pl.multiple_of(tile_t_begin, 128), 128)]  # linear_attention.py:68
        v_2 = decay[127:128].astype(jnp.float32).reshape(())  # linear_attention.py:68
        values = values_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:69
        decay_2 = decay_ref[0, pl.ds(pl.multiple_of(tile_t_begin, 128), 128)]  # linear_attention.py:69
        v_3 = (  # linear_attention.py:69
            jnp.broadcast_to(v_2, (128,)) - decay_2.astype(jnp.float32)
        ).astype(jnp.bfloat16)
        v_4 = jnp.exp(v_3.astype(jnp.float32)).astype(jnp.bfloat16).astype(jnp.float32)  # linear_attention.py:69
        v_5 = v_4.reshape((128, 1)).astype(jnp.bfloat16).astype(jnp.float32)  # linear_attention.py:69
        new = (values.astype(jnp.float32) - said) * jnp.broadcast_to(v_5, (128, 128))  # linear_attention.py:69
        keys = keys_ref[pl.ds(pl.multiple_of(tile_t_begin, 128), 128), :]  # linear_attention.py:70
        v_6 = jnp.broadcast_to(  # linear_attention.py:70
            jnp.exp(v_2).astype(jnp.bfloat16).astype(jnp.float32), (128, 128)
        )
        state_3 = state_2 * v_6 + jnp.dot(  # linear_attention.py:70
            keys.T, new.astype(jnp.bfloat16), preferred_element_type=jnp.float32
        )
        return state_3

    state_4 = jax.lax.fori_loop(0, 16, tile_t_body, state, unroll=8)  # linear_attention.py:65


def delta_states(keys, weights, values, decay):
    weights_2 = jnp.transpose(weights, (2, 0, 1, 3))  # linear_attention.py:62
    decay_2 = jnp.transpose(decay, (2, 0, 1)).reshape((16, 2, 1, 2048))  # linear_attention.py:62
    values_2 = jnp.transpose(values, (2, 0, 1, 3))  # linear_attention.py:62
    keys_2 = jnp.transpose(keys, (2, 0, 1, 3))  # linear_attention.py:62
    states = pl.pallas_call(  # linear_attention.py:62
        delta_states_kernel,
        grid=(2, 16, 1),
        in_specs=[
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, 0)),
            pl.BlockSpec((None, None, 1, 2048), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, 0)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, tile_w)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec(
            (None, 16, None, 128, 128), lambda tile_b, tile_h, tile_w: (tile_b, 0, tile_h, 0, tile_w)
        ),
        out_shape=jax.ShapeDtypeStruct((2, 16, 16, 128, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="delta_states",
    )(weights_2, decay_2, values_2, keys_2)
    return states
