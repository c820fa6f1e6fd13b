"""paged_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def paged_attention_kernel(
    lengths_ref,
    grouped_ref,
    table_ref,
    keys_ref,
    values_ref,
    out_ref,
    keys_buffer_ref,
    keys_arrived_ref,
    keys_turn_ref,
    values_buffer_ref,
    values_arrived_ref,
    values_turn_ref,
):
    tile_s = pl.program_id(0)
    length = lengths_ref[tile_s]  # paged.py:23
    queries = grouped_ref[...]  # paged.py:24
    top = jnp.full((8, 4, 1), -jnp.inf, jnp.float32)  # paged.py:25
    total = jnp.full((8, 4, 1), 0.0, jnp.float32)  # paged.py:26
    acc = jnp.full((8, 4, 128), 0.0, jnp.float32)  # paged.py:27
    v = length.astype(jnp.int32)  # paged.py:28

    @pl.when(tile_s == 0)  # paged.py:36
    def _():
        values_turn_ref[0] = jnp.asarray(0, jnp.int32)  # paged.py:36
        some = -(-v // 128) > 0  # paged.py:36

        @pl.when(some)  # paged.py:36
        def _():
            first_number = table_ref[tile_s, 0]  # paged.py:36
            pltpu.make_async_copy(  # paged.py:36
                values_ref.at[:, first_number.astype(jnp.int32), :, :],
                values_buffer_ref.at[0, :, :, :],
                values_arrived_ref.at[0],
            ).start()

    values_turn = values_turn_ref[0]  # paged.py:36
    turn = values_turn.astype(jnp.int32)  # paged.py:36
    next_cell = jnp.minimum(tile_s + 1, 15)  # paged.py:36
    next_cell_length = lengths_ref[next_cell]  # paged.py:36
    next_cell_number = table_ref[next_cell, 0]  # paged.py:36
    v_2 = next_cell_number.astype(jnp.int32)  # paged.py:36
    ahead = (-(-next_cell_length.astype(jnp.int32) // 128) > 0) & (tile_s < 15)  # paged.py:36
    v_3 = -(-v // 128)  # paged.py:36
    idle = (v_3 <= 0) & ahead  # paged.py:36

    @pl.when(idle)  # paged.py:36
    def _():
        pltpu.make_async_copy(  # paged.py:36
            values_ref.at[:, v_2, :, :],
            values_buffer_ref.at[turn, :, :, :],
            values_arrived_ref.at[turn],
        ).start()

    @pl.when(tile_s == 0)  # paged.py:30
    def _():
        keys_turn_ref[0] = jnp.asarray(0, jnp.int32)  # paged.py:30
        some_2 = -(-v // 128) > 0  # paged.py:30

        @pl.when(some_2)  # paged.py:30
        def _():
            first_number_2 = table_ref[tile_s, 0]  # paged.py:30
            pltpu.make_async_copy(  # paged.py:30
                keys_ref.at[:, first_number_2.astype(jnp.int32), :, :],
                keys_buffer_ref.at[0, :, :, :],
                keys_arrived_ref.at[0],
            ).start()

    keys_turn = keys_turn_ref[0]  # paged.py:30
    turn_2 = keys_turn.astype(jnp.int32)  # paged.py:30
    next_cell_2 = jnp.minimum(tile_s + 1, 15)  # paged.py:30
    next_cell_length_2 = lengths_ref[next_cell_2]  # paged.py:30
    next_cell_number_2 = table_ref[next_cell_2, 0]  # paged.py:30
    v_4 = next_cell_number_2.astype(jnp.int32)  # paged.py:30
    ahead_2 = (-(-next_cell_length_2.astype(jnp.int32) // 128) > 0) & (tile_s < 15)  # paged.py:30
    v_5 = -(-v // 128)  # paged.py:30
    idle_2 = (v_5 <= 0) & ahead_2  # paged.py:30

    @pl.when(idle_2)  # paged.py:30
    def _():
        pltpu.make_async_copy(  # paged.py:30
            keys_ref.at[:, v_4, :, :],
            keys_buffer_ref.at[turn_2, :, :, :],
            keys_arrived_ref.at[turn_2],
        ).start()

    tile_count = pl.cdiv(v, 128)  # paged.py:28

    def tile_body(tile, carry):  # paged.py:28
        acc_2, top_2, total_2 = carry
        tile_begin = tile * 128  # paged.py:28
        number = table_ref[tile_s, tile]  # paged.py:29
        v_6 = number.astype(jnp.int32)  # paged.py:30
        slot = tile + turn_2 & 1  # paged.py:30
        next_tile_number = tile + 1  # paged.py:30
        more = next_tile_number < tile_count  # paged.py:30
        other_slot = 1 - slot  # paged.py:30

        @pl.when(more)  # paged.py:30
        def _():
            next_number = table_ref[tile_s, next_tile_number]  # paged.py:30
            pltpu.make_async_copy(  # paged.py:30
                keys_ref.at[:, next_number.astype(jnp.int32), :, :],
                keys_buffer_ref.at[other_slot, :, :, :],
                keys_arrived_ref.at[other_slot],
            ).start()

        @pl.when(jnp.logical_not(more))  # paged.py:30
        def _():
            @pl.when(ahead_2)  # paged.py:30
            def _():
                pltpu.make_async_copy(  # paged.py:30
                    keys_ref.at[:, v_4, :, :],
                    keys_buffer_ref.at[other_slot, :, :, :],
                    keys_arrived_ref.at[other_slot],
                ).start()

        pltpu.make_async_copy(  # paged.py:30
            keys_ref.at[:, v_6, :, :],
            keys_buffer_ref.at[slot, :, :, :],
            keys_arrived_ref.at[slot],
        ).wait()
        keys_buffer = keys_buffer_ref[slot, :, :, :]  # paged.py:30
        v_7 = jax.lax.dot_general(  # paged.py:30
            queries,
            jnp.transpose(keys_buffer, (0, 2, 1)),
            (((2,), (1,)), ((0,), (0,))),
            preferred_element_type=jnp.float32,
        )
        scores = v_7 * 0.12751743  # paged.py:30
        v_8 = jax.lax.broadcasted_iota(jnp.int32, (128,), 0).reshape((1, 1, 128))  # paged.py:31
        v_9 = jnp.broadcast_to(jnp.asarray(tile_begin, jnp.int32), (1, 1, 128))  # paged.py:31
        v_10 = jnp.broadcast_to(  # paged.py:31
            (v_9 + v_8 < jnp.broadcast_to(length, (1, 1, 128))).astype(jnp.int32), (8, 4, 128)
        ) != 0
        scores_2 = jnp.where(v_10, scores, -jnp.inf)  # paged.py:31
        higher = jnp.maximum(top_2, jnp.max(scores_2, axis=2).reshape((8, 4, 1)))  # paged.py:32
        weights = jnp.exp2(scores_2 - jnp.broadcast_to(higher, (8, 4, 128)))  # paged.py:33
        fade = jnp.exp2(top_2 - higher)  # paged.py:34
        total_3 = total_2 * fade + jnp.sum(weights, axis=2).reshape((8, 4, 1))  # paged.py:35
        slot_2 = tile + turn & 1  # paged.py:36
        next_tile_number_2 = tile + 1  # paged.py:36
        more_2 = next_tile_number_2 < tile_count  # paged.py:36
        other_slot_2 = 1 - slot_2  # paged.py:36

        @pl.when(more_2)  # paged.py:36
        def _():
            next_number_2 = table_ref[tile_s, next_tile_number_2]  # paged.py:36
            pltpu.make_async_copy(  # paged.py:36
                values_ref.at[:, next_number_2.astype(jnp.int32), :, :],
                values_buffer_ref.at[other_slot_2, :, :, :],
                values_arrived_ref.at[other_slot_2],
            ).start()

        @pl.when(jnp.logical_not(more_2))  # paged.py:36
        def _():
            @pl.when(ahead)  # paged.py:36
            def _():
                pltpu.make_async_copy(  # paged.py:36
                    values_ref.at[:, v_2, :, :],
                    values_buffer_ref.at[other_slot_2, :, :, :],
                    values_arrived_ref.at[other_slot_2],
                ).start()

        pltpu.make_async_copy(  # paged.py:36
            values_ref.at[:, v_6, :, :],
            values_buffer_ref.at[slot_2, :, :, :],
            values_arrived_ref.at[slot_2],
        ).wait()
        values_buffer = values_buffer_ref[slot_2, :, :, :]  # paged.py:36
        acc_3 = acc_2 * jnp.broadcast_to(fade, (8, 4, 128)) + jax.lax.dot_general(  # paged.py:36
            weights.astype(jnp.bfloat16),
            values_buffer,
            (((2,), (1,)), ((0,), (0,))),
            preferred_element_type=jnp.float32,
        )
        return (acc_3, higher, total_3)

    acc_4, top_3, total_4 = jax.lax.fori_loop(0, tile_count, tile_body, (acc, top, total))  # paged.py:28
    next_turn = turn + jnp.maximum(v_3, 0) & 1  # paged.py:36
    values_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # paged.py:36
    next_turn_2 = turn_2 + jnp.maximum(v_5, 0) & 1  # paged.py:30
    keys_turn_ref[0] = jnp.asarray(next_turn_2, jnp.int32)  # paged.py:30
    out_ref[...] = (acc_4 / jnp.broadcast_to(total_4, (8, 4, 128))).astype(jnp.bfloat16)  # paged.py:38


def paged_attention(q, keys, values, lengths, table):
    grouped = q.reshape((16, 8, 4, 128))  # paged.py:18
    out = pl.pallas_call(  # paged.py:21
        paged_attention_kernel,
        grid=(16, 1),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, 8, 4, 128), lambda tile_s, h: (tile_s, h, 0, 0)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec(memory_space=pltpu.HBM),
            pl.BlockSpec(memory_space=pltpu.HBM),
        ],
        out_specs=pl.BlockSpec((None, 8, 4, 128), lambda tile_s, h: (tile_s, h, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((16, 8, 4, 128), jnp.bfloat16),
        scratch_shapes=[
            pltpu.VMEM((2, 8, 128, 128), jnp.bfloat16),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
            pltpu.VMEM((2, 8, 128, 128), jnp.bfloat16),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary", "arbitrary")),
        name="paged_attention",
    )(
        lengths,
        grouped,
        table,
        pltpu.with_memory_space_constraint(keys, pltpu.HBM),
        pltpu.with_memory_space_constraint(values, pltpu.HBM),
    )
    v = out.reshape((16, 32, 128))  # paged.py:39
    return v
