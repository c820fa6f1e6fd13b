"""jagged_softmax: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def jagged_softmax_kernel(
    offsets_ref,
    x_ref,
    out_ref,
    new_out_ref,
    new_out_buffer_ref,
    new_out_sent_ref,
    new_out_old_ref,
    new_out_fetched_ref,
    x_buffer_ref,
    x_arrived_ref,
    x_turn_ref,
    x_buffer_ref_2,
    x_arrived_ref_2,
    x_buffer_ref_3,
    x_arrived_ref_3,
):
    b = pl.program_id(0)
    starts = offsets_ref[b]  # jagged_kernels.py:99
    starts_2 = starts.astype(jnp.int32)  # jagged_kernels.py:116
    b_begin = b + 1  # jagged_kernels.py:100
    offsets = offsets_ref[b_begin]  # jagged_kernels.py:100
    lengths = offsets - starts  # jagged_kernels.py:100
    lengths_2 = lengths.astype(jnp.int32)  # jagged_kernels.py:112
    top = jnp.full((256,), -jnp.inf, jnp.float32)  # jagged_kernels.py:102
    total = jnp.full((256,), 0.0, jnp.float32)  # jagged_kernels.py:103
    v = lengths_2 + starts_2  # jagged_kernels.py:104
    k_first = starts_2 >> 3  # jagged_kernels.py:104
    k_blocks = jnp.where(v > starts_2, v - k_first * 8 + 31 >> 5, 0)  # jagged_kernels.py:104

    @pl.when(b == 0)  # jagged_kernels.py:106
    def _():
        x_turn_ref[0] = jnp.asarray(0, jnp.int32)  # jagged_kernels.py:106
        some = k_blocks > 0  # jagged_kernels.py:106

        @pl.when(some)  # jagged_kernels.py:106
        def _():
            first_k_begin = jnp.minimum(k_first, 1276) * 8  # jagged_kernels.py:106
            pltpu.make_async_copy(  # jagged_kernels.py:106
                x_ref.at[pl.ds(pl.multiple_of(first_k_begin, 8), 32), :],
                x_buffer_ref.at[0, :, :],
                x_arrived_ref.at[0],
            ).start()

    x_turn = x_turn_ref[0]  # jagged_kernels.py:106
    turn = x_turn.astype(jnp.int32)  # jagged_kernels.py:106
    next_cell = jnp.minimum(b + 1, 511)  # jagged_kernels.py:106
    next_begin = next_cell + 1  # jagged_kernels.py:106
    offsets_2 = offsets_ref[next_begin]  # jagged_kernels.py:106
    next_cell_starts = offsets_ref[next_cell]  # jagged_kernels.py:106
    next_cell_lengths = (offsets_2 - next_cell_starts).astype(jnp.int32)  # jagged_kernels.py:106
    next_cell_starts_2 = next_cell_starts.astype(jnp.int32)  # jagged_kernels.py:106
    v_2 = next_cell_lengths + next_cell_starts_2  # jagged_kernels.py:106
    next_cell_k_first = next_cell_starts_2 >> 3  # jagged_kernels.py:106
    next_cell_k_blocks = jnp.where(  # jagged_kernels.py:106
        v_2 > next_cell_starts_2, v_2 - next_cell_k_first * 8 + 31 >> 5, 0
    )
    next_cell_k_begin = jnp.minimum(next_cell_k_first, 1276) * 8  # jagged_kernels.py:106
    ahead = (next_cell_k_blocks > 0) & (b < 511)  # jagged_kernels.py:106
    idle = (k_blocks <= 0) & ahead  # jagged_kernels.py:106

    @pl.when(idle)  # jagged_kernels.py:106
    def _():
        pltpu.make_async_copy(  # jagged_kernels.py:106
            x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
            x_buffer_ref.at[turn, :, :],
            x_arrived_ref.at[turn],
        ).start()

    def k_number_body(k_number, top_2):  # jagged_kernels.py:104
        v_3 = k_first + k_number * 4  # jagged_kernels.py:104
        k_begin = jnp.minimum(v_3, 1276) * 8  # jagged_kernels.py:104
        k_start = jnp.maximum(starts_2, v_3 * 8)  # jagged_kernels.py:104
        slot = k_number + turn & 1  # jagged_kernels.py:106
        next_k_number_number = k_number + 1  # jagged_kernels.py:106
        more = next_k_number_number < k_blocks  # jagged_kernels.py:106
        other_slot = 1 - slot  # jagged_kernels.py:106

        @pl.when(more)  # jagged_kernels.py:106
        def _():
            next_k_begin = jnp.minimum(k_first + next_k_number_number * 4, 1276) * 8  # jagged_kernels.py:106
            pltpu.make_async_copy(  # jagged_kernels.py:106
                x_ref.at[pl.ds(pl.multiple_of(next_k_begin, 8), 32), :],
                x_buffer_ref.at[other_slot, :, :],
                x_arrived_ref.at[other_slot],
            ).start()

        @pl.when(jnp.logical_not(more))  # jagged_kernels.py:106
        def _():
            @pl.when(ahead)  # jagged_kernels.py:106
            def _():
                pltpu.make_async_copy(  # jagged_kernels.py:106
                    x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
                    x_buffer_ref.at[other_slot, :, :],
                    x_arrived_ref.at[other_slot],
                ).start()

        pltpu.make_async_copy(  # jagged_kernels.py:106
            x_ref.at[pl.ds(pl.multiple_of(k_begin, 8), 32), :],
            x_buffer_ref.at[slot, :, :],
            x_arrived_ref.at[slot],
        ).wait()
        block = x_buffer_ref[slot, :, :]  # jagged_kernels.py:106
        v_4 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:104
        inside = (  # jagged_kernels.py:104
            (v_4 >= jnp.full((32, 256), k_start, jnp.int32)) & (v_4 < jnp.full((32, 256), v, jnp.int32))
        )
        v_5 = jnp.where(inside, block, -jnp.inf)  # jagged_kernels.py:104
        top_3 = jnp.maximum(top_2, jnp.max(v_5, axis=0))  # jagged_kernels.py:107
        return top_3

    top_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, top)  # jagged_kernels.py:104
    next_turn = turn + jnp.maximum(k_blocks, 0) & 1  # jagged_kernels.py:106
    x_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # jagged_kernels.py:106
    some_2 = k_blocks > 0  # jagged_kernels.py:110

    @pl.when(some_2)  # jagged_kernels.py:110
    def _():
        first_k_begin_2 = jnp.minimum(k_first, 1276) * 8  # jagged_kernels.py:110
        pltpu.make_async_copy(  # jagged_kernels.py:110
            x_ref.at[pl.ds(pl.multiple_of(first_k_begin_2, 8), 32), :],
            x_buffer_ref_2.at[0, :, :],
            x_arrived_ref_2.at[0],
        ).start()

    def k_number_body_2(k_number_2, total_2):  # jagged_kernels.py:108
        v_6 = k_first + k_number_2 * 4  # jagged_kernels.py:108
        k_begin_2 = jnp.minimum(v_6, 1276) * 8  # jagged_kernels.py:108
        k_start_2 = jnp.maximum(starts_2, v_6 * 8)  # jagged_kernels.py:108
        slot_2 = k_number_2 & 1  # jagged_kernels.py:110
        next_k_number_number_2 = k_number_2 + 1  # jagged_kernels.py:110
        more_2 = next_k_number_number_2 < k_blocks  # jagged_kernels.py:110
        other_slot_2 = 1 - slot_2  # jagged_kernels.py:110

        @pl.when(more_2)  # jagged_kernels.py:110
        def _():
            next_k_begin_2 = jnp.minimum(k_first + next_k_number_number_2 * 4, 1276) * 8  # jagged_kernels.py:110
            pltpu.make_async_copy(  # jagged_kernels.py:110
                x_ref.at[pl.ds(pl.multiple_of(next_k_begin_2, 8), 32), :],
                x_buffer_ref_2.at[other_slot_2, :, :],
                x_arrived_ref_2.at[other_slot_2],
            ).start()

        pltpu.make_async_copy(  # jagged_kernels.py:110
            x_ref.at[pl.ds(pl.multiple_of(k_begin_2, 8), 32), :],
            x_buffer_ref_2.at[slot_2, :, :],
            x_arrived_ref_2.at[slot_2],
        ).wait()
        block_2 = x_buffer_ref_2[slot_2, :, :]  # jagged_kernels.py:110
        v_7 = block_2 - jnp.broadcast_to(top_4.reshape((1, 256)), (32, 256))  # jagged_kernels.py:111
        v_8 = jnp.exp(v_7)  # jagged_kernels.py:111
        v_9 = k_begin_2 + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:108
        inside_2 = (  # jagged_kernels.py:108
            (v_9 >= jnp.full((32, 256), k_start_2, jnp.int32)) & (v_9 < jnp.full((32, 256), v, jnp.int32))
        )
        v_10 = jnp.where(inside_2, v_8, 0.0)  # jagged_kernels.py:108
        total_3 = total_2 + jnp.sum(v_10, axis=0)  # jagged_kernels.py:111
        return total_3

    total_4 = jax.lax.fori_loop(0, k_blocks, k_number_body_2, total)  # jagged_kernels.py:108
    some_3 = k_blocks > 0  # jagged_kernels.py:115

    @pl.when(some_3)  # jagged_kernels.py:115
    def _():
        first_k_begin_3 = jnp.minimum(k_first, 1276) * 8  # jagged_kernels.py:115
        pltpu.make_async_copy(  # jagged_kernels.py:115
            x_ref.at[pl.ds(pl.multiple_of(first_k_begin_3, 8), 32), :],
            x_buffer_ref_3.at[0, :, :],
            x_arrived_ref_3.at[0],
        ).start()

    def k_number_body_3(k_number_3, _):  # jagged_kernels.py:112
        slot_3 = k_number_3 & 1  # jagged_kernels.py:112
        later = k_number_3 > 0  # jagged_kernels.py:112
        v_11 = k_first + k_number_3 * 4  # jagged_kernels.py:112
        k_begin_3 = jnp.minimum(v_11, 1276) * 8  # jagged_kernels.py:112
        k_start_3 = jnp.maximum(starts_2, v_11 * 8)  # jagged_kernels.py:112
        shared = (k_start_3 > k_begin_3) | (v < k_begin_3 + 32)  # jagged_kernels.py:112

        @pl.when(shared)  # jagged_kernels.py:112
        def _():
            @pl.when(later)  # jagged_kernels.py:112
            def _():
                other_slot_3 = 1 - slot_3  # jagged_kernels.py:112
                pltpu.make_async_copy(  # jagged_kernels.py:112
                    new_out_buffer_ref.at[other_slot_3, :, :],
                    new_out_buffer_ref.at[other_slot_3, :, :],
                    new_out_sent_ref.at[other_slot_3],
                ).wait()

            pltpu.make_async_copy(  # jagged_kernels.py:112
                new_out_ref.at[pl.ds(pl.multiple_of(k_begin_3, 8), 32), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).start()

        slot_4 = k_number_3 & 1  # jagged_kernels.py:115
        next_k_number_number_3 = k_number_3 + 1  # jagged_kernels.py:115
        more_3 = next_k_number_number_3 < k_blocks  # jagged_kernels.py:115
        other_slot_4 = 1 - slot_4  # jagged_kernels.py:115

        @pl.when(more_3)  # jagged_kernels.py:115
        def _():
            next_k_begin_3 = jnp.minimum(k_first + next_k_number_number_3 * 4, 1276) * 8  # jagged_kernels.py:115
            pltpu.make_async_copy(  # jagged_kernels.py:115
                x_ref.at[pl.ds(pl.multiple_of(next_k_begin_3, 8), 32), :],
                x_buffer_ref_3.at[other_slot_4, :, :],
                x_arrived_ref_3.at[other_slot_4],
            ).start()

        pltpu.make_async_copy(  # jagged_kernels.py:115
            x_ref.at[pl.ds(pl.multiple_of(k_begin_3, 8), 32), :],
            x_buffer_ref_3.at[slot_4, :, :],
            x_arrived_ref_3.at[slot_4],
        ).wait()
        block_3 = x_buffer_ref_3[slot_4, :, :]  # jagged_kernels.py:115
        v_12 = block_3 - jnp.broadcast_to(top_4.reshape((1, 256)), (32, 256))  # jagged_kernels.py:116
        v_13 = jnp.exp(v_12) / jnp.broadcast_to(total_4.reshape((1, 256)), (32, 256))  # jagged_kernels.py:116
        v_14 = k_begin_3 + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:112
        inside_3 = (  # jagged_kernels.py:112
            (v_14 >= jnp.full((32, 256), k_start_3, jnp.int32)) & (v_14 < jnp.full((32, 256), v, jnp.int32))
        )

        @pl.when(shared)  # jagged_kernels.py:112
        def _():
            pltpu.make_async_copy(  # jagged_kernels.py:112
                new_out_ref.at[pl.ds(pl.multiple_of(k_begin_3, 8), 32), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).wait()

        old = new_out_old_ref[...]  # jagged_kernels.py:112
        new = jnp.where(inside_3, v_13, old)  # jagged_kernels.py:112
        new_out_buffer_ref[slot_3, :, :] = new  # jagged_kernels.py:112

        @pl.when(later)  # jagged_kernels.py:112
        def _():
            @pl.when(jnp.logical_not(shared))  # jagged_kernels.py:112
            def _():
                other_slot_5 = 1 - slot_3  # jagged_kernels.py:112
                pltpu.make_async_copy(  # jagged_kernels.py:112
                    new_out_buffer_ref.at[other_slot_5, :, :],
                    new_out_buffer_ref.at[other_slot_5, :, :],
                    new_out_sent_ref.at[other_slot_5],
                ).wait()

        pltpu.make_async_copy(  # jagged_kernels.py:112
            new_out_buffer_ref.at[slot_3, :, :],
            new_out_ref.at[pl.ds(pl.multiple_of(k_begin_3, 8), 32), :],
            new_out_sent_ref.at[slot_3],
        ).start()
        return None

    jax.lax.fori_loop(0, k_blocks, k_number_body_3, None)  # jagged_kernels.py:112
    some_4 = k_blocks > 0  # jagged_kernels.py:112

    @pl.when(some_4)  # jagged_kernels.py:112
    def _():
        last = k_blocks - 1  # jagged_kernels.py:112
        last_slot = last & 1  # jagged_kernels.py:112
        pltpu.make_async_copy(  # jagged_kernels.py:112
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_sent_ref.at[last_slot],
        ).wait()


def jagged_softmax(x, offsets):
    out = jnp.zeros((10240, 256), jnp.float32)  # jagged_kernels.py:96
    out_2 = pl.pallas_call(  # jagged_kernels.py:98
        jagged_softmax_kernel,
        grid=(512,),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec(memory_space=pltpu.HBM),
            pl.BlockSpec(memory_space=pltpu.HBM),
        ],
        out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
        out_shape=jax.ShapeDtypeStruct((10240, 256), jnp.float32),
        scratch_shapes=[
            pltpu.VMEM((2, 32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.VMEM((32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.VMEM((2, 32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
            pltpu.VMEM((2, 32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.VMEM((2, 32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
        ],
        input_output_aliases={2: 0},
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="jagged_softmax",
    )(offsets, pltpu.with_memory_space_constraint(x, pltpu.HBM), out)
    return out_2
