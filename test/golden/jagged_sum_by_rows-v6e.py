"""jagged_sum_by_rows: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def jagged_sum_by_rows_kernel(offsets_ref, x_ref, out_ref, x_buffer_ref, x_arrived_ref, x_turn_ref):
    b = pl.program_id(0)
    starts = offsets_ref[b]  # jagged_kernels.py:32
    starts_2 = starts.astype(jnp.int32)  # jagged_kernels.py:35
    total = jnp.full((256,), 0.0, jnp.float32)  # jagged_kernels.py:33
    b_begin = b + 1  # jagged_kernels.py:34
    v = offsets_ref[b_begin]  # jagged_kernels.py:34
    v_2 = v - starts  # jagged_kernels.py:34
    v_3 = v_2.astype(jnp.int32)  # jagged_kernels.py:34
    v_4 = 0 + starts_2  # jagged_kernels.py:34
    v_5 = v_3 + starts_2  # jagged_kernels.py:34
    k_first = v_4 >> 3  # jagged_kernels.py:34
    v_6 = k_first * 8  # jagged_kernels.py:34
    v_7 = v_5 - v_6  # jagged_kernels.py:34
    v_8 = v_7 + 31  # jagged_kernels.py:34
    v_9 = v_8 >> 5  # jagged_kernels.py:34
    v_10 = v_5 > v_4  # jagged_kernels.py:34
    k_blocks = jnp.where(v_10, v_9, 0)  # jagged_kernels.py:34

    @pl.when(b == 0)  # jagged_kernels.py:35
    def _():
        v_11 = jnp.asarray(0, jnp.int32)  # jagged_kernels.py:35
        x_turn_ref[0] = v_11  # jagged_kernels.py:35
        some = k_blocks > 0  # jagged_kernels.py:35

        @pl.when(some)  # jagged_kernels.py:35
        def _():
            v_12 = 0 * 4  # jagged_kernels.py:35
            v_13 = k_first + v_12  # jagged_kernels.py:35
            v_14 = jnp.minimum(v_13, 1276)  # jagged_kernels.py:35
            first_k_begin = v_14 * 8  # jagged_kernels.py:35
            pltpu.make_async_copy(  # jagged_kernels.py:35
                x_ref.at[pl.ds(pl.multiple_of(first_k_begin, 8), 32), :],
                x_buffer_ref.at[0, :, :],
                x_arrived_ref.at[0],
            ).start()

    v_15 = x_turn_ref[0]  # jagged_kernels.py:35
    turn = v_15.astype(jnp.int32)  # jagged_kernels.py:35
    v_16 = b + 1  # jagged_kernels.py:35
    next_cell = jnp.minimum(v_16, 511)  # jagged_kernels.py:35
    next_begin = next_cell + 1  # jagged_kernels.py:35
    v_18 = offsets_ref[next_begin]  # jagged_kernels.py:35
    next_cell_starts = offsets_ref[next_cell]  # jagged_kernels.py:35
    v_19 = v_18 - next_cell_starts  # jagged_kernels.py:35
    v_20 = v_19.astype(jnp.int32)  # jagged_kernels.py:35
    next_cell_starts_2 = next_cell_starts.astype(jnp.int32)  # jagged_kernels.py:35
    v_21 = v_20 + next_cell_starts_2  # jagged_kernels.py:35
    v_22 = 0 + next_cell_starts_2  # jagged_kernels.py:35
    v_23 = v_21 > v_22  # jagged_kernels.py:35
    next_cell_k_first = v_22 >> 3  # jagged_kernels.py:35
    v_24 = next_cell_k_first * 8  # jagged_kernels.py:35
    v_25 = v_21 - v_24  # jagged_kernels.py:35
    v_26 = v_25 + 31  # jagged_kernels.py:35
    v_27 = v_26 >> 5  # jagged_kernels.py:35
    next_cell_k_blocks = jnp.where(v_23, v_27, 0)  # jagged_kernels.py:35
    v_28 = 0 * 4  # jagged_kernels.py:35
    v_29 = next_cell_k_first + v_28  # jagged_kernels.py:35
    v_30 = jnp.minimum(v_29, 1276)  # jagged_kernels.py:35
    next_cell_k_begin = v_30 * 8  # jagged_kernels.py:35
    v_31 = next_cell_k_blocks > 0  # jagged_kernels.py:35
    v_32 = b < 511  # jagged_kernels.py:35
    ahead = v_31 & v_32  # jagged_kernels.py:35
    v_33 = k_blocks <= 0  # jagged_kernels.py:35
    idle = v_33 & ahead  # jagged_kernels.py:35

    @pl.when(idle)  # jagged_kernels.py:35
    def _():
        pltpu.make_async_copy(  # jagged_kernels.py:35
            x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
            x_buffer_ref.at[turn, :, :],
            x_arrived_ref.at[turn],
        ).start()

    def k_number_body(k_number, total_2):  # jagged_kernels.py:34
        v_34 = k_number * 4  # jagged_kernels.py:34
        v_35 = k_first + v_34  # jagged_kernels.py:34
        v_36 = jnp.minimum(v_35, 1276)  # jagged_kernels.py:34
        k_begin = v_36 * 8  # jagged_kernels.py:34
        v_37 = v_35 * 8  # jagged_kernels.py:34
        k_start = jnp.maximum(v_4, v_37)  # jagged_kernels.py:34
        v_38 = k_number + turn  # jagged_kernels.py:35
        slot = v_38 & 1  # jagged_kernels.py:35
        next_k_number_number = k_number + 1  # jagged_kernels.py:35
        more = next_k_number_number < k_blocks  # jagged_kernels.py:35
        other_slot = 1 - slot  # jagged_kernels.py:35

        @pl.when(more)  # jagged_kernels.py:35
        def _():
            v_39 = next_k_number_number * 4  # jagged_kernels.py:35
            v_40 = k_first + v_39  # jagged_kernels.py:35
            v_41 = jnp.minimum(v_40, 1276)  # jagged_kernels.py:35
            next_k_begin = v_41 * 8  # jagged_kernels.py:35
            pltpu.make_async_copy(  # jagged_kernels.py:35
                x_ref.at[pl.ds(pl.multiple_of(next_k_begin, 8), 32), :],
                x_buffer_ref.at[other_slot, :, :],
                x_arrived_ref.at[other_slot],
            ).start()

        @pl.when(jnp.logical_not(more))  # jagged_kernels.py:35
        def _():
            @pl.when(ahead)  # jagged_kernels.py:35
            def _():
                pltpu.make_async_copy(  # jagged_kernels.py:35
                    x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
                    x_buffer_ref.at[other_slot, :, :],
                    x_arrived_ref.at[other_slot],
                ).start()

        pltpu.make_async_copy(  # jagged_kernels.py:35
            x_ref.at[pl.ds(pl.multiple_of(k_begin, 8), 32), :],
            x_buffer_ref.at[slot, :, :],
            x_arrived_ref.at[slot],
        ).wait()
        v_42 = x_buffer_ref[slot, :, :]  # jagged_kernels.py:35
        v_43 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:34
        v_44 = jnp.full((32, 256), k_start, jnp.int32)  # jagged_kernels.py:34
        v_45 = jnp.full((32, 256), v_5, jnp.int32)  # jagged_kernels.py:34
        v_46 = v_43 >= v_44  # jagged_kernels.py:34
        v_47 = v_43 < v_45  # jagged_kernels.py:34
        inside = v_46 & v_47  # jagged_kernels.py:34
        v_48 = jnp.where(inside, v_42, 0.0)  # jagged_kernels.py:34
        v_49 = jnp.sum(v_48, axis=0)  # jagged_kernels.py:35
        total_3 = total_2 + v_49  # jagged_kernels.py:35
        return total_3

    total_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, total)  # jagged_kernels.py:34
    v_50 = jnp.maximum(k_blocks, 0)  # jagged_kernels.py:35
    v_51 = turn + v_50  # jagged_kernels.py:35
    next_turn = v_51 & 1  # jagged_kernels.py:35
    v_52 = jnp.asarray(next_turn, jnp.int32)  # jagged_kernels.py:35
    x_turn_ref[0] = v_52  # jagged_kernels.py:35
    out_ref[0, :] = total_4  # jagged_kernels.py:36


def jagged_sum_by_rows(x, offsets):
    out = pl.pallas_call(  # jagged_kernels.py:31
        jagged_sum_by_rows_kernel,
        grid=(512, 1),
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), pl.BlockSpec(memory_space=pltpu.HBM)],
        out_specs=pl.BlockSpec((None, 1, 256), lambda b, m: (b, 0, m)),
        out_shape=jax.ShapeDtypeStruct((512, 1, 256), jnp.float32),
        scratch_shapes=[
            pltpu.VMEM((2, 32, 256), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary", "arbitrary")),
        name="jagged_sum_by_rows",
    )(offsets, pltpu.with_memory_space_constraint(x, pltpu.HBM))
    out_2 = out.reshape((512, 256))  # jagged_kernels.py:31
    return out_2
