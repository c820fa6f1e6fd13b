"""histogram: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def histogram_kernel(numbers_ref, counts_ref, new_counts_ref):
    tile = pl.program_id(0)
    tile_begin = tile * 128

    @pl.when(tile == 0)
    def _():
        old = counts_ref[...]
        new_counts_ref[...] = old

    numbers = numbers_ref[...]  # histogram.py:13
    v = jnp.where((numbers >= 0) & (numbers < 50), jnp.maximum(jnp.minimum(numbers, 49), 0), -1)  # histogram.py:13
    inside = jax.lax.broadcasted_iota(jnp.int32, (128,), 0) < 333 - tile_begin  # histogram.py:13
    v_2 = jnp.broadcast_to(jnp.where(inside, v, -1)[:, None], (128, 50))  # histogram.py:13
    v_3 = jnp.where(  # histogram.py:13
        v_2 == jax.lax.broadcasted_iota(jnp.int32, (128, 50), 1),
        jnp.full((128, 50), 1, jnp.int32),
        jnp.full((128, 50), 0, jnp.int32),
    )
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 50), 0) < 333 - tile_begin  # histogram.py:13
    v_4 = jnp.sum(jnp.where(inside_2, v_3, 0), axis=0, dtype=jnp.int32)  # histogram.py:13
    old_2 = new_counts_ref[...]  # histogram.py:13
    new = old_2 + v_4  # histogram.py:13
    new_counts_ref[...] = new  # histogram.py:13


def histogram(numbers):
    counts = jnp.zeros((50,), jnp.int32)  # histogram.py:11
    counts_2 = pl.pallas_call(  # histogram.py:12
        histogram_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((128,), lambda tile: (tile,)), pl.BlockSpec((50,), lambda tile: (0,))],
        out_specs=pl.BlockSpec((50,), lambda tile: (0,)),
        out_shape=jax.ShapeDtypeStruct((50,), jnp.int32),
        input_output_aliases={1: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="histogram",
    )(numbers, counts)
    return counts_2
