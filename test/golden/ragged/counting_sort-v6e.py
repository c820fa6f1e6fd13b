"""counting_sort: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def counting_sort_0_kernel(numbers_ref, counts_ref, new_counts_ref):
    tile = pl.program_id(0)
    tile_begin = tile * 128

    @pl.when(tile == 0)
    def _():
        old = counts_ref[...]
        new_counts_ref[...] = old

    numbers = numbers_ref[...]  # histogram.py:21
    v = jnp.where((numbers >= 0) & (numbers < 50), jnp.maximum(jnp.minimum(numbers, 49), 0), -1)  # histogram.py:21
    inside = jax.lax.broadcasted_iota(jnp.int32, (128,), 0) < 333 - tile_begin  # histogram.py:21
    v_2 = jnp.broadcast_to(jnp.where(inside, v, -1)[:, None], (128, 50))  # histogram.py:21
    v_3 = jnp.where(  # histogram.py:21
        v_2 == jax.lax.broadcasted_iota(jnp.int32, (128, 50), 1),
        jnp.full((128, 50), 1, jnp.int32),
        jnp.full((128, 50), 0, jnp.int32),
    )
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 50), 0) < 333 - tile_begin  # histogram.py:21
    v_4 = jnp.sum(jnp.where(inside_2, v_3, 0), axis=0, dtype=jnp.int32)  # histogram.py:21
    old_2 = new_counts_ref[...]  # histogram.py:21
    new = old_2 + v_4  # histogram.py:21
    new_counts_ref[...] = new  # histogram.py:21


def counting_sort_1_kernel(
    numbers_ref,
    places_ref,
    new_places_ref,
    out_ref,
    row_value_arrived_ref,
    row_value_ref,
    row_value_block_ref,
    row_number_arrived_ref,
    row_number_ref,
    row_number_block_ref,
    row_before_ref,
    row_number_arrived_ref_2,
    row_number_ref_2,
    row_number_block_ref_2,
):
    tile = pl.program_id(0)
    tile_begin = tile * 128

    @pl.when(tile == 0)
    def _():
        old = places_ref[...]
        new_places_ref[...] = old

    numbers = numbers_ref[...]  # histogram.py:25
    v = jnp.where((numbers >= 0) & (numbers < 50), jnp.maximum(jnp.minimum(numbers, 49), 0), -1)  # histogram.py:25
    inside = jax.lax.broadcasted_iota(jnp.int32, (128,), 0) < 333 - tile_begin  # histogram.py:25
    row_number_block_ref_2[...] = jnp.where(inside, v, -1)  # histogram.py:25
    pltpu.sync_copy(row_number_block_ref_2.at[...], row_number_ref_2.at[...])  # histogram.py:25

    def r_body(r, _):  # histogram.py:25
        n = row_number_ref_2[r]  # histogram.py:25
        v_2 = jnp.maximum(n >> 7, 0)  # histogram.py:25
        hit = (  # histogram.py:25
            jax.lax.broadcasted_iota(jnp.int32, (128,), 0) == jnp.broadcast_to(n - v_2 * 128, (128,))
        )
        row = v_2.astype(jnp.int32)  # histogram.py:25
        old_2 = new_places_ref[row, :]  # histogram.py:25
        new = jnp.where(hit, old_2 + 1, old_2)  # histogram.py:25
        new_places_ref[row, :] = new  # histogram.py:25
        row_before_ref[r, :] = jnp.where(hit, old_2, 0)  # histogram.py:25
        return None

    jax.lax.fori_loop(0, 128, r_body, None, unroll=8)  # histogram.py:25
    row_before = row_before_ref[...]  # histogram.py:25
    ticket = jnp.sum(row_before.T, axis=0, dtype=jnp.int32)  # histogram.py:25
    numbers_2 = numbers_ref[...]  # histogram.py:26
    v_3 = jnp.where((ticket >= 0) & (ticket < 333), jnp.maximum(jnp.minimum(ticket, 332), 0), -1)  # histogram.py:26
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128,), 0) < 333 - tile_begin  # histogram.py:26
    row_number_block_ref[...] = jnp.where(inside_2, v_3, -1)  # histogram.py:26
    pltpu.sync_copy(row_number_block_ref.at[...], row_number_ref.at[...])  # histogram.py:26
    row_value_block_ref[...] = numbers_2  # histogram.py:26
    pltpu.sync_copy(row_value_block_ref.at[...], row_value_ref.at[...])  # histogram.py:26

    def r_body_2(r_2, _):  # histogram.py:26
        n_2 = row_number_ref[r_2]  # histogram.py:26
        v_4 = jnp.maximum(n_2 >> 7, 0)  # histogram.py:26
        hit_2 = (  # histogram.py:26
            jax.lax.broadcasted_iota(jnp.int32, (128,), 0) == jnp.broadcast_to(n_2 - v_4 * 128, (128,))
        )
        row_2 = v_4.astype(jnp.int32)  # histogram.py:26
        old_3 = out_ref[row_2, :]  # histogram.py:26
        row_value = row_value_ref[r_2]  # histogram.py:26
        new_2 = jnp.where(hit_2, jnp.broadcast_to(row_value, (128,)), old_3)  # histogram.py:26
        out_ref[row_2, :] = new_2  # histogram.py:26
        return None

    jax.lax.fori_loop(0, 128, r_body_2, None, unroll=8)  # histogram.py:26


def counting_sort(numbers):
    counts = jnp.zeros((50,), jnp.int32)  # histogram.py:19
    counts_2 = pl.pallas_call(  # histogram.py:20
        counting_sort_0_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((128,), lambda tile: (tile,)), pl.BlockSpec((50,), lambda tile: (0,))],
        out_specs=pl.BlockSpec((50,), lambda tile: (0,)),
        out_shape=jax.ShapeDtypeStruct((50,), jnp.int32),
        input_output_aliases={1: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="counting_sort_0",
    )(numbers, counts)
    v = jnp.cumsum(counts_2, axis=0, dtype=jnp.int32)  # histogram.py:22
    places = (v - counts_2).astype(jnp.int32)  # histogram.py:22
    places_2 = jnp.pad(places, [(0, 78)]).reshape((1, 128))  # histogram.py:24
    places_3, out = pl.pallas_call(  # histogram.py:24
        counting_sort_1_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((128,), lambda tile: (tile,)), pl.BlockSpec((1, 128), lambda tile: (0, 0))],
        out_specs=[pl.BlockSpec((1, 128), lambda tile: (0, 0)), pl.BlockSpec((3, 128), lambda tile: (0, 0))],
        out_shape=[jax.ShapeDtypeStruct((1, 128), jnp.int32), jax.ShapeDtypeStruct((3, 128), jnp.int32)],
        scratch_shapes=[
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.SMEM((128,), jnp.int32),
            pltpu.VMEM((128,), jnp.int32),
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.SMEM((128,), jnp.int32),
            pltpu.VMEM((128,), jnp.int32),
            pltpu.VMEM((128, 128), jnp.int32),
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.SMEM((128,), jnp.int32),
            pltpu.VMEM((128,), jnp.int32),
        ],
        input_output_aliases={1: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="counting_sort_1",
    )(numbers, places_2)
    out_2 = out.reshape((384,))[:333]  # histogram.py:24
    return out_2
