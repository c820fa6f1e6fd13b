"""jagged_softmax: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def jagged_softmax_kernel(offsets_ref, x_ref, out_ref, new_out_ref, new_out_buffer_ref, new_out_sent_ref, new_out_old_ref, new_out_fetched_ref, x_buffer_ref, x_arrived_ref, x_turn_ref, x_buffer_ref_2, x_arrived_ref_2, x_buffer_ref_3, x_arrived_ref_3):
    b = pl.program_id(0)
    starts = offsets_ref[b]  # jagged_kernels.py:99
    starts_2 = starts.astype(jnp.int32)  # jagged_kernels.py:116
    b_begin = b + 1  # jagged_kernels.py:100
    v = offsets_ref[b_begin]  # jagged_kernels.py:100
    lengths = v - starts  # jagged_kernels.py:100
    lengths_2 = lengths.astype(jnp.int32)  # jagged_kernels.py:112
    top = jnp.full((256,), -jnp.inf, jnp.float32)  # jagged_kernels.py:102
    total = jnp.full((256,), 0.0, jnp.float32)  # jagged_kernels.py:103
    v_2 = 0 + starts_2  # jagged_kernels.py:104
    v_3 = lengths_2 + starts_2  # jagged_kernels.py:104
    k_first = v_2 >> 3  # jagged_kernels.py:104
    v_4 = k_first * 8  # jagged_kernels.py:104
    v_5 = v_3 - v_4  # jagged_kernels.py:104
    v_6 = v_5 + 31  # jagged_kernels.py:104
    v_7 = v_6 >> 5  # jagged_kernels.py:104
    v_8 = v_3 > v_2  # jagged_kernels.py:104
    k_blocks = jnp.where(v_8, v_7, 0)  # jagged_kernels.py:104

    @pl.when(b == 0)  # jagged_kernels.py:106
    def _():
        v_9 = jnp.asarray(0, jnp.int32)  # jagged_kernels.py:106
        x_turn_ref[0] = v_9  # jagged_kernels.py:106
        some = k_blocks > 0  # jagged_kernels.py:106

        @pl.when(some)  # jagged_kernels.py:106
        def _():
            v_10 = 0 * 4  # jagged_kernels.py:106
            v_11 = k_first + v_10  # jagged_kernels.py:106
            v_12 = jnp.minimum(v_11, 1276)  # jagged_kernels.py:106
            first_k_begin = v_12 * 8  # jagged_kernels.py:106
            pltpu.make_async_copy(  # jagged_kernels.py:106
                x_ref.at[pl.ds(pl.multiple_of(first_k_begin, 8), 32), :],
                x_buffer_ref.at[0, :, :],
                x_arrived_ref.at[0],
            ).start()

    v_13 = x_turn_ref[0]  # jagged_kernels.py:106
    turn = v_13.astype(jnp.int32)  # jagged_kernels.py:106
    v_14 = b + 1  # jagged_kernels.py:106
    next_cell = jnp.minimum(v_14, 511)  # jagged_kernels.py:106
    next_begin = next_cell + 1  # jagged_kernels.py:106
    v_16 = offsets_ref[next_begin]  # jagged_kernels.py:106
    next_cell_starts = offsets_ref[next_cell]  # jagged_kernels.py:106
    next_cell_lengths = v_16 - next_cell_starts  # jagged_kernels.py:106
    next_cell_lengths_2 = next_cell_lengths.astype(jnp.int32)  # jagged_kernels.py:106
    next_cell_starts_2 = next_cell_starts.astype(jnp.int32)  # jagged_kernels.py:106
    v_17 = next_cell_lengths_2 + next_cell_starts_2  # jagged_kernels.py:106
    v_18 = 0 + next_cell_starts_2  # jagged_kernels.py:106
    v_19 = v_17 > v_18  # jagged_kernels.py:106
    next_cell_k_first = v_18 >> 3  # jagged_kernels.py:106
    v_20 = next_cell_k_first * 8  # jagged_kernels.py:106
    v_21 = v_17 - v_20  # jagged_kernels.py:106
    v_22 = v_21 + 31  # jagged_kernels.py:106
    v_23 = v_22 >> 5  # jagged_kernels.py:106
    next_cell_k_blocks = jnp.where(v_19, v_23, 0)  # jagged_kernels.py:106
    v_24 = 0 * 4  # jagged_kernels.py:106
    v_25 = next_cell_k_first + v_24  # jagged_kernels.py:106
    v_26 = jnp.minimum(v_25, 1276)  # jagged_kernels.py:106
    next_cell_k_begin = v_26 * 8  # jagged_kernels.py:106
    v_27 = next_cell_k_blocks > 0  # jagged_kernels.py:106
    v_28 = b < 511  # jagged_kernels.py:106
    ahead = v_27 & v_28  # jagged_kernels.py:106
    v_29 = k_blocks <= 0  # jagged_kernels.py:106
    idle = v_29 & ahead  # jagged_kernels.py:106

    @pl.when(idle)  # jagged_kernels.py:106
    def _():
        pltpu.make_async_copy(  # jagged_kernels.py:106
            x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
            x_buffer_ref.at[turn, :, :],
            x_arrived_ref.at[turn],
        ).start()

    def k_number_body(k_number, top_2):  # jagged_kernels.py:104
        v_30 = k_number * 4  # jagged_kernels.py:104
        v_31 = k_first + v_30  # jagged_kernels.py:104
        v_32 = jnp.minimum(v_31, 1276)  # jagged_kernels.py:104
        k_begin = v_32 * 8  # jagged_kernels.py:104
        v_33 = v_31 * 8  # jagged_kernels.py:104
        k_start = jnp.maximum(v_2, v_33)  # jagged_kernels.py:104
        v_34 = k_number + turn  # jagged_kernels.py:106
        slot = v_34 & 1  # jagged_kernels.py:106
        next_k_number_number = k_number + 1  # jagged_kernels.py:106
        more = next_k_number_number < k_blocks  # jagged_kernels.py:106
        other_slot = 1 - slot  # jagged_kernels.py:106

        @pl.when(more)  # jagged_kernels.py:106
        def _():
            v_35 = next_k_number_number * 4  # jagged_kernels.py:106
            v_36 = k_first + v_35  # jagged_kernels.py:106
            v_37 = jnp.minimum(v_36, 1276)  # jagged_kernels.py:106
            next_k_begin = v_37 * 8  # jagged_kernels.py:106
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
        v_38 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:104
        v_39 = jnp.full((32, 256), k_start, jnp.int32)  # jagged_kernels.py:104
        v_40 = jnp.full((32, 256), v_3, jnp.int32)  # jagged_kernels.py:104
        v_41 = v_38 >= v_39  # jagged_kernels.py:104
        v_42 = v_38 < v_40  # jagged_kernels.py:104
        inside = v_41 & v_42  # jagged_kernels.py:104
        v_43 = jnp.where(inside, block, (-jnp.inf))  # jagged_kernels.py:104
        v_44 = jnp.max(v_43, axis=0)  # jagged_kernels.py:107
        top_3 = jnp.maximum(top_2, v_44)  # jagged_kernels.py:107
        return top_3

    top_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, top)  # jagged_kernels.py:104
    v_45 = jnp.maximum(k_blocks, 0)  # jagged_kernels.py:106
    v_46 = turn + v_45  # jagged_kernels.py:106
    next_turn = v_46 & 1  # jagged_kernels.py:106
    v_47 = jnp.asarray(next_turn, jnp.int32)  # jagged_kernels.py:106
    x_turn_ref[0] = v_47  # jagged_kernels.py:106
    some_2 = k_blocks > 0  # jagged_kernels.py:110

    @pl.when(some_2)  # jagged_kernels.py:110
    def _():
        v_48 = 0 * 4  # jagged_kernels.py:110
        v_49 = k_first + v_48  # jagged_kernels.py:110
        v_50 = jnp.minimum(v_49, 1276)  # jagged_kernels.py:110
        first_k_begin_2 = v_50 * 8  # jagged_kernels.py:110
        pltpu.make_async_copy(  # jagged_kernels.py:110
            x_ref.at[pl.ds(pl.multiple_of(first_k_begin_2, 8), 32), :],
            x_buffer_ref_2.at[0, :, :],
            x_arrived_ref_2.at[0],
        ).start()

    def k_number_body_2(k_number_2, total_2):  # jagged_kernels.py:108
        v_51 = k_number_2 * 4  # jagged_kernels.py:108
        v_52 = k_first + v_51  # jagged_kernels.py:108
        v_53 = jnp.minimum(v_52, 1276)  # jagged_kernels.py:108
        k_begin_2 = v_53 * 8  # jagged_kernels.py:108
        v_54 = v_52 * 8  # jagged_kernels.py:108
        k_start_2 = jnp.maximum(v_2, v_54)  # jagged_kernels.py:108
        slot_2 = k_number_2 & 1  # jagged_kernels.py:110
        next_k_number_number_2 = k_number_2 + 1  # jagged_kernels.py:110
        more_2 = next_k_number_number_2 < k_blocks  # jagged_kernels.py:110
        other_slot_2 = 1 - slot_2  # jagged_kernels.py:110

        @pl.when(more_2)  # jagged_kernels.py:110
        def _():
            v_55 = next_k_number_number_2 * 4  # jagged_kernels.py:110
            v_56 = k_first + v_55  # jagged_kernels.py:110
            v_57 = jnp.minimum(v_56, 1276)  # jagged_kernels.py:110
            next_k_begin_2 = v_57 * 8  # jagged_kernels.py:110
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
        v_58 = top_4.reshape((1, 256))  # jagged_kernels.py:111
        v_59 = jnp.broadcast_to(v_58, (32, 256))  # jagged_kernels.py:111
        v_60 = block_2 - v_59  # jagged_kernels.py:111
        v_61 = jnp.exp(v_60)  # jagged_kernels.py:111
        v_62 = k_begin_2 + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:108
        v_63 = jnp.full((32, 256), k_start_2, jnp.int32)  # jagged_kernels.py:108
        v_64 = jnp.full((32, 256), v_3, jnp.int32)  # jagged_kernels.py:108
        v_65 = v_62 >= v_63  # jagged_kernels.py:108
        v_66 = v_62 < v_64  # jagged_kernels.py:108
        inside_2 = v_65 & v_66  # jagged_kernels.py:108
        v_67 = jnp.where(inside_2, v_61, 0.0)  # jagged_kernels.py:108
        v_68 = jnp.sum(v_67, axis=0)  # jagged_kernels.py:111
        total_3 = total_2 + v_68  # jagged_kernels.py:111
        return total_3

    total_4 = jax.lax.fori_loop(0, k_blocks, k_number_body_2, total)  # jagged_kernels.py:108
    some_3 = k_blocks > 0  # jagged_kernels.py:115

    @pl.when(some_3)  # jagged_kernels.py:115
    def _():
        v_69 = 0 * 4  # jagged_kernels.py:115
        v_70 = k_first + v_69  # jagged_kernels.py:115
        v_71 = jnp.minimum(v_70, 1276)  # jagged_kernels.py:115
        first_k_begin_3 = v_71 * 8  # jagged_kernels.py:115
        pltpu.make_async_copy(  # jagged_kernels.py:115
            x_ref.at[pl.ds(pl.multiple_of(first_k_begin_3, 8), 32), :],
            x_buffer_ref_3.at[0, :, :],
            x_arrived_ref_3.at[0],
        ).start()

    def k_number_body_3(k_number_3, _):  # jagged_kernels.py:112
        slot_3 = k_number_3 & 1  # jagged_kernels.py:112
        later = k_number_3 > 0  # jagged_kernels.py:112
        v_72 = k_number_3 * 4  # jagged_kernels.py:112
        v_73 = k_first + v_72  # jagged_kernels.py:112
        v_74 = jnp.minimum(v_73, 1276)  # jagged_kernels.py:112
        k_begin_3 = v_74 * 8  # jagged_kernels.py:112
        v_75 = v_73 * 8  # jagged_kernels.py:112
        k_start_3 = jnp.maximum(v_2, v_75)  # jagged_kernels.py:112
        v_76 = k_begin_3 + 32  # jagged_kernels.py:112
        v_77 = k_start_3 > k_begin_3  # jagged_kernels.py:112
        v_78 = v_3 < v_76  # jagged_kernels.py:112
        shared = v_77 | v_78  # jagged_kernels.py:112

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
            v_79 = next_k_number_number_3 * 4  # jagged_kernels.py:115
            v_80 = k_first + v_79  # jagged_kernels.py:115
            v_81 = jnp.minimum(v_80, 1276)  # jagged_kernels.py:115
            next_k_begin_3 = v_81 * 8  # jagged_kernels.py:115
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
        v_82 = top_4.reshape((1, 256))  # jagged_kernels.py:116
        v_83 = jnp.broadcast_to(v_82, (32, 256))  # jagged_kernels.py:116
        v_84 = block_3 - v_83  # jagged_kernels.py:116
        v_85 = jnp.exp(v_84)  # jagged_kernels.py:116
        v_86 = total_4.reshape((1, 256))  # jagged_kernels.py:116
        v_87 = jnp.broadcast_to(v_86, (32, 256))  # jagged_kernels.py:116
        v_88 = v_85 / v_87  # jagged_kernels.py:116
        v_89 = k_begin_3 + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:112
        v_90 = jnp.full((32, 256), k_start_3, jnp.int32)  # jagged_kernels.py:112
        v_91 = jnp.full((32, 256), v_3, jnp.int32)  # jagged_kernels.py:112
        v_92 = v_89 >= v_90  # jagged_kernels.py:112
        v_93 = v_89 < v_91  # jagged_kernels.py:112
        inside_3 = v_92 & v_93  # jagged_kernels.py:112

        @pl.when(shared)  # jagged_kernels.py:112
        def _():
            pltpu.make_async_copy(  # jagged_kernels.py:112
                new_out_ref.at[pl.ds(pl.multiple_of(k_begin_3, 8), 32), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).wait()

        old = new_out_old_ref[...]  # jagged_kernels.py:112
        new = jnp.where(inside_3, v_88, old)  # jagged_kernels.py:112
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
