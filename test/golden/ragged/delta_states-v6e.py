"""delta_states: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def delta_states_kernel(weights_ref, decay_ref, values_ref, keys_ref, decay_ref_2, states_ref):
    tile_b = pl.program_id(0)
    tile_h = pl.program_id(1)
    state = jnp.full((64, 128), 0.0, jnp.float32)  # linear_attention.py:64

    def tile_t_body(tile_t, state_2):  # linear_attention.py:65
        tile_t_begin = tile_t * 32  # linear_attention.py:65
        states_ref[tile_t, :, :] = state_2  # linear_attention.py:66
        weights = weights_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:67
        said = jnp.dot(  # linear_attention.py:67
            weights, state_2, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        last = decay_ref_2[tile_b, jnp.minimum(tile_t_begin + 32, 100) - 1, tile_h]  # linear_attention.py:68
        values = values_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:69
        decay = decay_ref[tile_t, 0, :]  # linear_attention.py:69
        v = jnp.exp(jnp.broadcast_to(last, (32,)) - decay).reshape((32, 1))  # linear_attention.py:69
        new = (values - said) * jnp.broadcast_to(v, (32, 128))  # linear_attention.py:69
        keys = keys_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # linear_attention.py:70
        inside = jax.lax.broadcasted_iota(jnp.int32, (64, 32), 1) < 100 - tile_t_begin  # linear_attention.py:70
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) < 100 - tile_t_begin  # linear_attention.py:70
        state_3 = state_2 * jnp.broadcast_to(jnp.exp(last), (64, 128)) + jnp.dot(  # linear_attention.py:70
            jnp.where(inside, keys.T, 0.0),
            jnp.where(inside_2, new, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return state_3

    state_4 = jax.lax.fori_loop(0, 4, tile_t_body, state, unroll=4)  # linear_attention.py:65


def delta_states(keys, weights, values, decay):
    weights_2 = jnp.transpose(weights, (2, 0, 1, 3))  # linear_attention.py:62
    decay_2 = jnp.pad(decay, [(0, 0), (0, 28), (0, 0)]).reshape((2, 4, 32, 3))  # linear_attention.py:62
    decay_3 = jnp.transpose(decay_2, (1, 3, 0, 2)).reshape((4, 3, 2, 1, 32))  # linear_attention.py:62
    values_2 = jnp.transpose(values, (2, 0, 1, 3))  # linear_attention.py:62
    keys_2 = jnp.transpose(keys, (2, 0, 1, 3))  # linear_attention.py:62
    states = pl.pallas_call(  # linear_attention.py:62
        delta_states_kernel,
        grid=(2, 3, 1),
        in_specs=[
            pl.BlockSpec((None, None, 128, 64), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, 0)),
            pl.BlockSpec((4, None, None, 1, 32), lambda tile_b, tile_h, tile_w: (0, tile_h, tile_b, 0, 0)),
            pl.BlockSpec((None, None, 128, 128), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, tile_w)),
            pl.BlockSpec((None, None, 128, 64), lambda tile_b, tile_h, tile_w: (tile_h, tile_b, 0, 0)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
        ],
        out_specs=pl.BlockSpec((None, 4, None, 64, 128), lambda tile_b, tile_h, tile_w: (tile_b, 0, tile_h, 0, tile_w)),
        out_shape=jax.ShapeDtypeStruct((2, 4, 3, 64, 100), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="delta_states",
    )(weights_2, decay_3, values_2, keys_2, decay)
    return states
