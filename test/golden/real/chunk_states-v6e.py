"""chunk_states: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def chunk_states_kernel(decay_ref, steps_ref, x_ref, b_ref, out_ref):
    decay = decay_ref[0, 255:256]  # state_space.py:22
    last = decay.astype(jnp.float32).reshape(())  # state_space.py:22
    acc = jnp.full((64, 128), 0.0, jnp.float32)  # state_space.py:23
    decay_2 = decay_ref[0, :]  # state_space.py:25
    v = jnp.exp(jnp.broadcast_to(last, (256,)) - decay_2.astype(jnp.float32))  # state_space.py:25
    steps = steps_ref[0, :]  # state_space.py:25
    left = v * steps.astype(jnp.float32)  # state_space.py:25
    x = x_ref[...]  # state_space.py:26
    v_2 = x.T.astype(jnp.float32) * jnp.broadcast_to(left.reshape((1, 256)), (64, 256))  # state_space.py:26
    inputs = v_2.astype(jnp.bfloat16)  # state_space.py:26
    b = b_ref[...]  # state_space.py:27
    acc_2 = acc + jnp.dot(inputs, b, preferred_element_type=jnp.float32)  # state_space.py:27
    out_ref[...] = acc_2.astype(jnp.bfloat16)  # state_space.py:28


def chunk_states(b, x, steps, decay):
    b_2 = jnp.transpose(b, (0, 2, 1, 3))  # state_space.py:18
    decay_2 = decay.reshape((2, 32, 8, 1, 256))  # state_space.py:18
    steps_2 = steps.reshape((2, 32, 8, 1, 256))  # state_space.py:18
    x_2 = jnp.transpose(x, (2, 0, 1, 3))  # state_space.py:18
    out = pl.pallas_call(  # state_space.py:18
        chunk_states_kernel,
        grid=(32, 1, 1, 2, 8),
        in_specs=[
            pl.BlockSpec(
                (None, None, None, 1, 256),
                lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, None, 1, 256),
                lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0),
            ),
            pl.BlockSpec(
                (None, None, 256, 64), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_h, tile_n, tile_c, tile_w)
            ),
            pl.BlockSpec(
                (None, None, 256, 128), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, 0, tile_c, tile_s)
            ),
        ],
        out_specs=pl.BlockSpec(
            (None, None, None, 64, 128),
            lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_c, tile_h, tile_w, tile_s),
        ),
        out_shape=jax.ShapeDtypeStruct((2, 8, 32, 64, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "parallel", "parallel", "parallel")
        ),
        name="chunk_states",
    )(decay_2, steps_2, x_2, b_2)
    return out
