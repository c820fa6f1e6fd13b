"""chunk_states: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def chunk_states_kernel(decay_ref, steps_ref, x_ref, b_ref, out_ref):
    tile_c = pl.program_id(4)
    last = decay_ref[0, 95]  # state_space.py:22
    acc = jnp.full((64, 32), 0.0, jnp.float32)  # state_space.py:23
    v = tile_c * 96  # state_space.py:26
    decay = decay_ref[0, :]  # state_space.py:25
    steps = steps_ref[0, :]  # state_space.py:25
    left = jnp.exp(jnp.broadcast_to(last, (96,)) - decay) * steps  # state_space.py:25
    x = x_ref[pl.ds(pl.multiple_of(v, 96), 96), :]  # state_space.py:26
    inputs = x.T * jnp.broadcast_to(left.reshape((1, 96)), (64, 96))  # state_space.py:26
    b = b_ref[pl.ds(pl.multiple_of(v, 96), 96), :]  # state_space.py:27
    acc_2 = acc + jnp.dot(  # state_space.py:27
        inputs, b, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
    )
    out_ref[...] = acc_2.T  # state_space.py:28


def chunk_states(b, x, steps, decay):
    decay_2 = decay.reshape((1, 4, 2, 1, 96))  # state_space.py:18
    steps_2 = steps.reshape((1, 4, 2, 1, 96))  # state_space.py:18
    x_2 = jnp.transpose(x, (2, 0, 1, 3))  # state_space.py:18
    b_2 = jnp.transpose(b, (2, 0, 1, 3))  # state_space.py:18
    out = pl.pallas_call(  # state_space.py:18
        chunk_states_kernel,
        grid=(4, 1, 1, 1, 2),
        in_specs=[
            pl.BlockSpec(
                (None, None, None, 1, 96), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0)
            ),
            pl.BlockSpec(
                (None, None, None, 1, 96), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_h, tile_c, 0, 0)
            ),
            pl.BlockSpec(
                (None, None, 192, 64), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_h, tile_n, 0, tile_w)
            ),
            pl.BlockSpec(
                (None, None, 192, 32), lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_h // 2, tile_n, 0, tile_s)
            ),
        ],
        out_specs=pl.BlockSpec(
            (None, None, None, 32, 64),
            lambda tile_h, tile_w, tile_s, tile_n, tile_c: (tile_n, tile_c, tile_h, tile_s, tile_w),
        ),
        out_shape=jax.ShapeDtypeStruct((1, 2, 4, 32, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "parallel", "parallel", "parallel")
        ),
        name="chunk_states",
    )(decay_2, steps_2, x_2, b_2)
    out_2 = jnp.transpose(out, (0, 1, 2, 4, 3))  # state_space.py:18
    return out_2
