"""packed_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _lanes_from(x, start, size, axis):
    """``size`` lanes of one dimension from a computed one on; those from outside are other lanes."""
    if x.ndim == 1:
        return _lanes_from(x[None, :], start, size, 1)[0]
    wide = x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int32)
    lanes = x.shape[axis]
    rolled = pltpu.roll(wide, (lanes - start) % lanes, axis)
    return jax.lax.slice_in_dim(rolled, 0, size, axis=axis).astype(x.dtype)


def packed_attention_kernel(
    offsets_ref,
    q_ref,
    k_ref,
    v_ref,
    out_ref,
    new_out_ref,
    new_out_buffer_ref,
    new_out_sent_ref,
    new_out_old_ref,
    new_out_fetched_ref,
    q_buffer_ref,
    q_arrived_ref,
    q_turn_ref,
    k_buffer_ref,
    k_arrived_ref,
    v_buffer_ref,
    v_arrived_ref,
):
    h = pl.program_id(0)
    i = pl.program_id(1)
    begin = offsets_ref[i]  # packed.py:17
    end = offsets_ref[i + 1]  # packed.py:17
    v = begin.astype(jnp.int32)  # packed.py:18
    v_2 = end.astype(jnp.int32)  # packed.py:18
    mine_first = v >> 4  # packed.py:18
    mine_blocks = jnp.where(v_2 > v, v_2 - mine_first * 16 + 127 >> 7, 0)  # packed.py:18

    @pl.when(i == 0)  # packed.py:23
    def _():
        q_turn_ref[0] = jnp.asarray(0, jnp.int32)  # packed.py:23
        some = mine_blocks > 0  # packed.py:23

        @pl.when(some)  # packed.py:23
        def _():
            first_mine_begin = jnp.minimum(mine_first, 120) * 16  # packed.py:23
            pltpu.make_async_copy(  # packed.py:23
                q_ref.at[h, pl.ds(pl.multiple_of(first_mine_begin, 16), 128), :],
                q_buffer_ref.at[0, :, :],
                q_arrived_ref.at[0],
            ).start()

    q_turn = q_turn_ref[0]  # packed.py:23
    turn = q_turn.astype(jnp.int32)  # packed.py:23
    next_cell = jnp.minimum(i + 1, 15)  # packed.py:23
    next_cell_end = offsets_ref[next_cell + 1]  # packed.py:23
    v_3 = next_cell_end.astype(jnp.int32)  # packed.py:23
    next_cell_begin = offsets_ref[next_cell]  # packed.py:23
    v_4 = next_cell_begin.astype(jnp.int32)  # packed.py:23
    next_cell_mine_first = v_4 >> 4  # packed.py:23
    next_cell_mine_blocks = jnp.where(v_3 > v_4, v_3 - next_cell_mine_first * 16 + 127 >> 7, 0)  # packed.py:23
    next_cell_mine_begin = jnp.minimum(next_cell_mine_first, 120) * 16  # packed.py:23
    ahead = (next_cell_mine_blocks > 0) & (i < 15)  # packed.py:23
    idle = (mine_blocks <= 0) & ahead  # packed.py:23

    @pl.when(idle)  # packed.py:23
    def _():
        pltpu.make_async_copy(  # packed.py:23
            q_ref.at[h, pl.ds(pl.multiple_of(next_cell_mine_begin, 16), 128), :],
            q_buffer_ref.at[turn, :, :],
            q_arrived_ref.at[turn],
        ).start()

    def mine_number_body(mine_number, _):  # packed.py:18
        some_2 = -(-(v_2 - v) // 128) > 0  # packed.py:30

        @pl.when(some_2)  # packed.py:30
        def _():
            first_others_aligned = jnp.minimum(jnp.maximum(v, 0) >> 4, 119) * 16  # packed.py:30
            pltpu.make_async_copy(  # packed.py:30
                v_ref.at[h, pl.ds(pl.multiple_of(first_others_aligned, 16), 144), :],
                v_buffer_ref.at[0, :, :],
                v_arrived_ref.at[0],
            ).start()

        some_3 = -(-(v_2 - v) // 128) > 0  # packed.py:23

        @pl.when(some_3)  # packed.py:23
        def _():
            first_others_aligned_2 = jnp.minimum(jnp.maximum(v, 0) >> 4, 119) * 16  # packed.py:23
            pltpu.make_async_copy(  # packed.py:23
                k_ref.at[h, pl.ds(pl.multiple_of(first_others_aligned_2, 16), 144), :],
                k_buffer_ref.at[0, :, :],
                k_arrived_ref.at[0],
            ).start()

        slot = mine_number & 1  # packed.py:18
        later = mine_number > 0  # packed.py:18
        v_5 = mine_first + mine_number * 8  # packed.py:18
        mine_begin = jnp.minimum(v_5, 120) * 16  # packed.py:18
        mine_start = jnp.maximum(v, v_5 * 16)  # packed.py:18
        shared = (mine_start > mine_begin) | (v_2 < mine_begin + 128)  # packed.py:18

        @pl.when(shared)  # packed.py:18
        def _():
            @pl.when(later)  # packed.py:18
            def _():
                other_slot = 1 - slot  # packed.py:18
                pltpu.make_async_copy(  # packed.py:18
                    new_out_buffer_ref.at[other_slot, :, :],
                    new_out_buffer_ref.at[other_slot, :, :],
                    new_out_sent_ref.at[other_slot],
                ).wait()

            pltpu.make_async_copy(  # packed.py:18
                new_out_ref.at[h, pl.ds(pl.multiple_of(mine_begin, 16), 128), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).start()

        top = jnp.full((128, 1), -jnp.inf, jnp.float32)  # packed.py:19
        total = jnp.full((128, 1), 0.0, jnp.float32)  # packed.py:20
        acc = jnp.full((128, 128), 0.0, jnp.float32)  # packed.py:21
        slot_2 = mine_number + turn & 1  # packed.py:23
        next_mine_number_number = mine_number + 1  # packed.py:23
        more = next_mine_number_number < mine_blocks  # packed.py:23
        other_slot_2 = 1 - slot_2  # packed.py:23

        @pl.when(more)  # packed.py:23
        def _():
            next_mine_begin = jnp.minimum(mine_first + next_mine_number_number * 8, 120) * 16  # packed.py:23
            pltpu.make_async_copy(  # packed.py:23
                q_ref.at[h, pl.ds(pl.multiple_of(next_mine_begin, 16), 128), :],
                q_buffer_ref.at[other_slot_2, :, :],
                q_arrived_ref.at[other_slot_2],
            ).start()

        @pl.when(jnp.logical_not(more))  # packed.py:23
        def _():
            @pl.when(ahead)  # packed.py:23
            def _():
                pltpu.make_async_copy(  # packed.py:23
                    q_ref.at[h, pl.ds(pl.multiple_of(next_cell_mine_begin, 16), 128), :],
                    q_buffer_ref.at[other_slot_2, :, :],
                    q_arrived_ref.at[other_slot_2],
                ).start()

        pltpu.make_async_copy(  # packed.py:23
            q_ref.at[h, pl.ds(pl.multiple_of(mine_begin, 16), 128), :],
            q_buffer_ref.at[slot_2, :, :],
            q_arrived_ref.at[slot_2],
        ).wait()
        q_buffer = q_buffer_ref[slot_2, :, :]  # packed.py:23
        others_count = pl.cdiv(v_2 - v, 128)  # packed.py:22

        def others_body(others, carry):  # packed.py:22
            acc_2, top_2, total_2 = carry
            others_begin = v + others * 128  # packed.py:22
            others_aligned = jnp.minimum(jnp.maximum(others_begin, 0) >> 4, 119) * 16  # packed.py:23
            v_6 = others_begin - others_aligned  # packed.py:23
            slot_3 = others & 1  # packed.py:23
            next_others_number = others + 1  # packed.py:23
            more_2 = next_others_number < others_count  # packed.py:23
            other_slot_3 = 1 - slot_3  # packed.py:23

            @pl.when(more_2)  # packed.py:23
            def _():
                next_begin_2 = v + others * 128 + 128  # packed.py:23
                next_others_aligned = jnp.minimum(jnp.maximum(next_begin_2, 0) >> 4, 119) * 16  # packed.py:23
                pltpu.make_async_copy(  # packed.py:23
                    k_ref.at[h, pl.ds(pl.multiple_of(next_others_aligned, 16), 144), :],
                    k_buffer_ref.at[other_slot_3, :, :],
                    k_arrived_ref.at[other_slot_3],
                ).start()

            pltpu.make_async_copy(  # packed.py:23
                k_ref.at[h, pl.ds(pl.multiple_of(others_aligned, 16), 144), :],
                k_buffer_ref.at[slot_3, :, :],
                k_arrived_ref.at[slot_3],
            ).wait()
            k_buffer = k_buffer_ref[slot_3, :, :]  # packed.py:23
            v_7 = jnp.dot(  # packed.py:23
                q_buffer, _lanes_from(k_buffer, v_6, 128, 0).T, preferred_element_type=jnp.float32
            )
            scores = v_7.astype(jnp.bfloat16).astype(jnp.float32) * 0.12751743  # packed.py:23
            v_8 = mine_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # packed.py:25
            v_9 = others_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1)  # packed.py:25
            scores_2 = jnp.where(v_8 >= v_9, scores, -jnp.inf)  # packed.py:25
            inside = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < v_2 - others_begin  # packed.py:26
            v_10 = jnp.max(jnp.where(inside, scores_2, -jnp.inf), axis=1).reshape((128, 1))  # packed.py:26
            higher = jnp.maximum(top_2, v_10)  # packed.py:26
            weights = jnp.exp2(scores_2 - jnp.broadcast_to(higher, (128, 128)))  # packed.py:27
            decay = jnp.exp2(top_2 - higher)  # packed.py:28
            inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < v_2 - others_begin  # packed.py:29
            weights_2 = jnp.where(inside_2, weights, 0.0)  # packed.py:29
            total_3 = total_2 * decay + jnp.sum(weights_2, axis=1).reshape((128, 1))  # packed.py:29
            slot_4 = others & 1  # packed.py:30
            next_others_number_2 = others + 1  # packed.py:30
            more_3 = next_others_number_2 < others_count  # packed.py:30
            other_slot_4 = 1 - slot_4  # packed.py:30

            @pl.when(more_3)  # packed.py:30
            def _():
                next_begin_3 = v + others * 128 + 128  # packed.py:30
                next_others_aligned_2 = jnp.minimum(jnp.maximum(next_begin_3, 0) >> 4, 119) * 16  # packed.py:30
                pltpu.make_async_copy(  # packed.py:30
                    v_ref.at[h, pl.ds(pl.multiple_of(next_others_aligned_2, 16), 144), :],
                    v_buffer_ref.at[other_slot_4, :, :],
                    v_arrived_ref.at[other_slot_4],
                ).start()

            pltpu.make_async_copy(  # packed.py:30
                v_ref.at[h, pl.ds(pl.multiple_of(others_aligned, 16), 144), :],
                v_buffer_ref.at[slot_4, :, :],
                v_arrived_ref.at[slot_4],
            ).wait()
            v_buffer = v_buffer_ref[slot_4, :, :]  # packed.py:30
            inside_3 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < v_2 - others_begin  # packed.py:30
            acc_3 = acc_2 * jnp.broadcast_to(decay, (128, 128)) + jnp.dot(  # packed.py:30
                weights_2.astype(jnp.bfloat16),
                jnp.where(inside_3, _lanes_from(v_buffer, v_6, 128, 0), 0.0),
                preferred_element_type=jnp.float32,
            )
            return (acc_3, higher, total_3)

        acc_4, top_3, total_4 = jax.lax.fori_loop(0, others_count, others_body, (acc, top, total))  # packed.py:22
        v_11 = (acc_4 / jnp.broadcast_to(total_4, (128, 128))).astype(jnp.bfloat16)  # packed.py:32
        v_12 = mine_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # packed.py:18
        inside_4 = (  # packed.py:18
            (v_12 >= jnp.full((128, 128), mine_start, jnp.int32)) & (v_12 < jnp.full((128, 128), v_2, jnp.int32))
        )

        @pl.when(shared)  # packed.py:18
        def _():
            pltpu.make_async_copy(  # packed.py:18
                new_out_ref.at[h, pl.ds(pl.multiple_of(mine_begin, 16), 128), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).wait()

        old = new_out_old_ref[...]  # packed.py:18
        new = jnp.where(inside_4, v_11, old)  # packed.py:18
        new_out_buffer_ref[slot, :, :] = new  # packed.py:18

        @pl.when(later)  # packed.py:18
        def _():
            @pl.when(jnp.logical_not(shared))  # packed.py:18
            def _():
                other_slot_5 = 1 - slot  # packed.py:18
                pltpu.make_async_copy(  # packed.py:18
                    new_out_buffer_ref.at[other_slot_5, :, :],
                    new_out_buffer_ref.at[other_slot_5, :, :],
                    new_out_sent_ref.at[other_slot_5],
                ).wait()

        pltpu.make_async_copy(  # packed.py:18
            new_out_buffer_ref.at[slot, :, :],
            new_out_ref.at[h, pl.ds(pl.multiple_of(mine_begin, 16), 128), :],
            new_out_sent_ref.at[slot],
        ).start()
        return None

    jax.lax.fori_loop(0, mine_blocks, mine_number_body, None)  # packed.py:18
    next_turn = turn + jnp.maximum(mine_blocks, 0) & 1  # packed.py:23
    q_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # packed.py:23
    some_4 = mine_blocks > 0  # packed.py:18

    @pl.when(some_4)  # packed.py:18
    def _():
        last = mine_blocks - 1  # packed.py:18
        last_slot = last & 1  # packed.py:18
        pltpu.make_async_copy(  # packed.py:18
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_sent_ref.at[last_slot],
        ).wait()


def packed_attention(q, k, v, offsets):
    out = jnp.zeros((2048, 8, 128), jnp.bfloat16)  # packed.py:14
    q_2 = jnp.transpose(q, (1, 0, 2))  # packed.py:16
    k_2 = jnp.transpose(k, (1, 0, 2))  # packed.py:16
    v_2 = jnp.transpose(v, (1, 0, 2))  # packed.py:16
    out_2 = jnp.transpose(out, (1, 0, 2))  # packed.py:16
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:16
    with jax.enable_x64(False):
        out_3 = pl.pallas_call(  # packed.py:16
            packed_attention_kernel,
            grid=(8, 16),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec(memory_space=pltpu.HBM),
                pl.BlockSpec(memory_space=pltpu.HBM),
                pl.BlockSpec(memory_space=pltpu.HBM),
                pl.BlockSpec(memory_space=pltpu.HBM),
            ],
            out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
            out_shape=jax.ShapeDtypeStruct((8, 2048, 128), jnp.bfloat16),
            scratch_shapes=[
                pltpu.VMEM((2, 128, 128), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.VMEM((128, 128), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((1,)),
                pltpu.VMEM((2, 128, 128), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.SMEM((1,), jnp.int32),
                pltpu.VMEM((2, 144, 128), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.VMEM((2, 144, 128), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
            ],
            input_output_aliases={4: 0},
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
            name="packed_attention",
        )(
            offsets_2,
            pltpu.with_memory_space_constraint(q_2, pltpu.HBM),
            pltpu.with_memory_space_constraint(k_2, pltpu.HBM),
            pltpu.with_memory_space_constraint(v_2, pltpu.HBM),
            out_2,
        )
    out_4 = jnp.transpose(out_3, (1, 0, 2))  # packed.py:16
    return out_4
