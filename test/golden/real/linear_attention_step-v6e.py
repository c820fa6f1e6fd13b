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
    v = new_state.astype(jnp.float32) * jnp.broadcast_to(jnp.exp(decay), (128, 128))  # linear_attention.py:44
    k = k_ref[0, :]  # linear_attention.py:44
    v_2 = v_ref[0, :]  # linear_attention.py:44
    v_3 = jnp.broadcast_to(k.astype(jnp.float32).reshape((128, 1)), (128, 128))  # linear_attention.py:44
    v_4 = jnp.broadcast_to(v_2.astype(jnp.float32).reshape((1, 128)), (128, 128))  # linear_attention.py:44
    new = v + v_3 * v_4  # linear_attention.py:44
    new_state_ref[...] = new.astype(jnp.bfloat16)  # linear_attention.py:46
    q = q_ref[0, :]  # linear_attention.py:47
    v_5 = jnp.broadcast_to(q.astype(jnp.float32).reshape((128, 1)), (128, 128))  # linear_attention.py:47
    out_ref[0, :] = jnp.sum(v_5 * new, axis=0).astype(jnp.bfloat16)  # linear_attention.py:47


def linear_attention_step(q, k, v, state, decay):
    k_2 = k.reshape((256, 1, 128))  # linear_attention.py:41
    v_2 = v.reshape((256, 1, 128))  # linear_attention.py:41
    q_2 = q.reshape((256, 1, 128))  # linear_attention.py:41
    state_2, out = pl.pallas_call(  # linear_attention.py:41
        linear_attention_step_kernel,
        grid=(256, 1),
        in_specs=[
            pl.BlockSpec((None, 128, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, 0)),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((None, 128, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
            pl.BlockSpec((None, 1, 128), lambda tile_h, tile_w: (tile_h, 0, tile_w)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((256, 128, 128), jnp.bfloat16),
            jax.ShapeDtypeStruct((256, 1, 128), jnp.bfloat16),
        ],
        input_output_aliases={0: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="linear_attention_step",
    )(state, decay, k_2, v_2, q_2)
    out_2 = out.reshape((256, 128))  # linear_attention.py:41
    return out_2, state_2
