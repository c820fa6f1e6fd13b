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
    offsets = offsets_ref[b_begin]  # jagged_kernels.py:34
    v = (offsets - starts).astype(jnp.int32) + starts_2  # jagged_kernels.py:34
    k_first = starts_2 >> 3  # jagged_kernels.py:34
    k_blocks = jnp.where(v > starts_2, v - k_first * 8 + 31 >> 5, 0)  # jagged_kernels.py:34

    @pl.when(b == 0)  # jagged_kernels.py:35
    def _():
        x_turn_ref[0] = jnp.asarray(0, jnp.int32)  # jagged_kernels.py:35
        some = k_blocks > 0  # jagged_kernels.py:35

        @pl.when(some)  # jagged_kernels.py:35
        def _():
            first_k_begin = jnp.minimum(k_first, 1276) * 8  # jagged_kernels.py:35
            pltpu.make_async_copy(  # jagged_kernels.py:35
                x_ref.at[pl.ds(pl.multiple_of(first_k_begin, 8), 32), :],
                x_buffer_ref.at[0, :, :],
                x_arrived_ref.at[0],
            ).start()

    x_turn = x_turn_ref[0]  # jagged_kernels.py:35
    turn = x_turn.astype(jnp.int32)  # jagged_kernels.py:35
    next_cell = jnp.minimum(b + 1, 511)  # jagged_kernels.py:35
    next_begin = next_cell + 1  # jagged_kernels.py:35
    offsets_2 = offsets_ref[next_begin]  # jagged_kernels.py:35
    next_cell_starts = offsets_ref[next_cell]  # jagged_kernels.py:35
    next_cell_starts_2 = next_cell_starts.astype(jnp.int32)  # jagged_kernels.py:35
    v_2 = (offsets_2 - next_cell_starts).astype(jnp.int32) + next_cell_starts_2  # jagged_kernels.py:35
    next_cell_k_first = next_cell_starts_2 >> 3  # jagged_kernels.py:35
    next_cell_k_blocks = jnp.where(  # jagged_kernels.py:35
        v_2 > next_cell_starts_2, v_2 - next_cell_k_first * 8 + 31 >> 5, 0
    )
    next_cell_k_begin = jnp.minimum(next_cell_k_first, 1276) * 8  # jagged_kernels.py:35
    ahead = (next_cell_k_blocks > 0) & (b < 511)  # jagged_kernels.py:35
    idle = (k_blocks <= 0) & ahead  # jagged_kernels.py:35

    @pl.when(idle)  # jagged_kernels.py:35
    def _():
        pltpu.make_async_copy(  # jagged_kernels.py:35
            x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 8), 32), :],
            x_buffer_ref.at[turn, :, :],
            x_arrived_ref.at[turn],
        ).start()

    def k_number_body(k_number, total_2):  # jagged_kernels.py:34
        v_3 = k_first + k_number * 4  # jagged_kernels.py:34
        k_begin = jnp.minimum(v_3, 1276) * 8  # jagged_kernels.py:34
        k_start = jnp.maximum(starts_2, v_3 * 8)  # jagged_kernels.py:34
        slot = k_number + turn & 1  # jagged_kernels.py:35
        next_k_number_number = k_number + 1  # jagged_kernels.py:35
        more = next_k_number_number < k_blocks  # jagged_kernels.py:35
        other_slot = 1 - slot  # jagged_kernels.py:35

        @pl.when(more)  # jagged_kernels.py:35
        def _():
            next_k_begin = jnp.minimum(k_first + next_k_number_number * 4, 1276) * 8  # jagged_kernels.py:35
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
        x_buffer = x_buffer_ref[slot, :, :]  # jagged_kernels.py:35
        v_4 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 256), 0)  # jagged_kernels.py:34
        inside = (  # jagged_kernels.py:34
            (v_4 >= jnp.full((32, 256), k_start, jnp.int32)) & (v_4 < jnp.full((32, 256), v, jnp.int32))
        )
        v_5 = jnp.where(inside, x_buffer, 0.0)  # jagged_kernels.py:34
        total_3 = total_2 + jnp.sum(v_5, axis=0)  # jagged_kernels.py:35
        return total_3

    total_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, total)  # jagged_kernels.py:34
    next_turn = turn + jnp.maximum(k_blocks, 0) & 1  # jagged_kernels.py:35
    x_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # jagged_kernels.py:35
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
