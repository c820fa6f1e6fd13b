"""linear_attention_step: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def linear_attention_step_kernel(state_ref, decay_ref, k_ref, v_ref, q_ref, new_state_ref, out_ref):
    tile_h = pl.program_id(0)
    old = state_ref[...]
    new_state_ref[...] = old
    new_state = new_state_ref[...]  # linear_attention.py:44
    decay = decay_ref[tile_h]  # linear_attention.py:44
    k = k_ref[0, :]  # linear_attention.py:44
    v = v_ref[0, :]  # linear_attention.py:44
    v_2 = (  # linear_attention.py:44
        jnp.broadcast_to(k.reshape((64, 1)), (64, 128)) * jnp.broadcast_to(v.reshape((1, 128)), (64, 128))
    )
    new = new_state * jnp.broadcast_to(jnp.exp(decay), (64, 128)) + v_2  # linear_attention.py:44
    new_state_ref[...] = new  # linear_attention.py:46
    q = q_ref[0, :]  # linear_attention.py:47
    out_ref[0, :] = jnp.sum(jnp.broadcast_to(q.reshape((64, 1)), (64, 128)) * new, axis=0)  # linear_attention.py:47


def linear_attention_step(q, k, v, state, decay):
    k_2 = k.reshape((5, 1, 64))  # linear_attention.py:41
    v_2 = v.reshape((5, 1, 150))  # linear_attention.py:41
    q_2 = q.reshape((5, 1, 64))  # linear_attention.py:41
    state_2, out = pl.pallas_call(  # linear_attention.py:41
        linear_attention_step_kernel,
        grid=(5, 2),
        in_specs=[
            pl.BlockSpec((None, 64, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, 1, 64), lambda tile_h, tile_w: (tile_h, 0, 0)),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec((None, 1, 64), lambda tile_h, tile_w: (tile_h, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((None, 64, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
        ],
        out_shape=[jax.ShapeDtypeStruct((5, 64, 150), jnp.float32), jax.ShapeDtypeStruct((5, 1, 150), jnp.float32)],
        input_output_aliases={0: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="linear_attention_step",
    )(state, decay, k_2, v_2, q_2)
    out_2 = out.reshape((5, 150))  # linear_attention.py:41
    return out_2, state_2
