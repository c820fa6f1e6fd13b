"""js_divergence: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def js_divergence_kernel(
    predicted_ref,
    target_ref,
    grad_ref,
    losses_ref,
    predicted_buffer_ref,
    predicted_arrived_ref,
    predicted_turn_ref,
    target_buffer_ref,
    target_arrived_ref,
    target_turn_ref,
):
    rows = pl.program_id(0)
    rows_begin = rows * 256

    @pl.when(rows == 0)  # divergence.py:35
    def _():
        target_turn_ref[0] = jnp.asarray(0, jnp.int32)  # divergence.py:35
        pltpu.make_async_copy(  # divergence.py:35
            target_ref.at[pl.ds(pl.multiple_of(rows_begin, 256), 256), 0:1280],
            target_buffer_ref.at[0, :, :],
            target_arrived_ref.at[0],
        ).start()

    target_turn = target_turn_ref[0]  # divergence.py:35
    turn = target_turn.astype(jnp.int32)  # divergence.py:35
    next_cell = jnp.minimum(rows + 1, 7)  # divergence.py:35
    next_begin = next_cell * 256  # divergence.py:35
    ahead = (-(-32000 // 1280) > 0) & (rows < 7)  # divergence.py:35
    idle = (25 <= 0) & ahead  # divergence.py:35

    @pl.when(idle)  # divergence.py:35
    def _():
        pltpu.make_async_copy(  # divergence.py:35
            target_ref.at[pl.ds(pl.multiple_of(next_begin, 256), 256), 0:1280],
            target_buffer_ref.at[turn, :, :],
            target_arrived_ref.at[turn],
        ).start()

    @pl.when(rows == 0)  # divergence.py:35
    def _():
        predicted_turn_ref[0] = jnp.asarray(0, jnp.int32)  # divergence.py:35
        pltpu.make_async_copy(  # divergence.py:35
            predicted_ref.at[pl.ds(pl.multiple_of(rows_begin, 256), 256), 0:1280],
            predicted_buffer_ref.at[0, :, :],
            predicted_arrived_ref.at[0],
        ).start()

    predicted_turn = predicted_turn_ref[0]  # divergence.py:35
    turn_2 = predicted_turn.astype(jnp.int32)  # divergence.py:35
    next_cell_2 = jnp.minimum(rows + 1, 7)  # divergence.py:35
    next_begin_2 = next_cell_2 * 256  # divergence.py:35
    ahead_2 = (-(-32000 // 1280) > 0) & (rows < 7)  # divergence.py:35
    idle_2 = (25 <= 0) & ahead_2  # divergence.py:35

    @pl.when(idle_2)  # divergence.py:35
    def _():
        pltpu.make_async_copy(  # divergence.py:35
            predicted_ref.at[pl.ds(pl.multiple_of(next_begin_2, 256), 256), 0:1280],
            predicted_buffer_ref.at[turn_2, :, :],
            predicted_arrived_ref.at[turn_2],
        ).start()

    total = jnp.full((256, 1), 0.0, jnp.float32)  # divergence.py:33

    def cols_body(cols, total_2):  # divergence.py:34
        cols_begin = cols * 1280  # divergence.py:34
        slot = cols + turn_2 & 1  # divergence.py:35
        next_cols_number = cols + 1  # divergence.py:35
        more = next_cols_number < 25  # divergence.py:35
        other_slot = 1 - slot  # divergence.py:35

        @pl.when(more)  # divergence.py:35
        def _():
            next_begin_3 = cols * 1280 + 1280  # divergence.py:35
            pltpu.make_async_copy(  # divergence.py:35
                predicted_ref.at[
                    pl.ds(pl.multiple_of(rows_begin, 256), 256), pl.ds(pl.multiple_of(next_begin_3, 1280), 1280)
                ],
                predicted_buffer_ref.at[other_slot, :, :],
                predicted_arrived_ref.at[other_slot],
            ).start()

        @pl.when(jnp.logical_not(more))  # divergence.py:35
        def _():
            @pl.when(ahead_2)  # divergence.py:35
            def _():
                pltpu.make_async_copy(  # divergence.py:35
                    predicted_ref.at[pl.ds(pl.multiple_of(next_begin_2, 256), 256), 0:1280],
                    predicted_buffer_ref.at[other_slot, :, :],
                    predicted_arrived_ref.at[other_slot],
                ).start()

        pltpu.make_async_copy(  # divergence.py:35
            predicted_ref.at[
                pl.ds(pl.multiple_of(rows_begin, 256), 256), pl.ds(pl.multiple_of(cols_begin, 1280), 1280)
            ],
            predicted_buffer_ref.at[slot, :, :],
            predicted_arrived_ref.at[slot],
        ).wait()
        predicted_buffer = predicted_buffer_ref[slot, :, :]  # divergence.py:35
        log_q = predicted_buffer.astype(jnp.float32)  # divergence.py:35
        slot_2 = cols + turn & 1  # divergence.py:35
        next_cols_number_2 = cols + 1  # divergence.py:35
        more_2 = next_cols_number_2 < 25  # divergence.py:35
        other_slot_2 = 1 - slot_2  # divergence.py:35

        @pl.when(more_2)  # divergence.py:35
        def _():
            next_begin_4 = cols * 1280 + 1280  # divergence.py:35
            pltpu.make_async_copy(  # divergence.py:35
                target_ref.at[
                    pl.ds(pl.multiple_of(rows_begin, 256), 256), pl.ds(pl.multiple_of(next_begin_4, 1280), 1280)
                ],
                target_buffer_ref.at[other_slot_2, :, :],
                target_arrived_ref.at[other_slot_2],
            ).start()

        @pl.when(jnp.logical_not(more_2))  # divergence.py:35
        def _():
            @pl.when(ahead)  # divergence.py:35
            def _():
                pltpu.make_async_copy(  # divergence.py:35
                    target_ref.at[pl.ds(pl.multiple_of(next_begin, 256), 256), 0:1280],
                    target_buffer_ref.at[other_slot_2, :, :],
                    target_arrived_ref.at[other_slot_2],
                ).start()

        pltpu.make_async_copy(  # divergence.py:35
            target_ref.at[pl.ds(pl.multiple_of(rows_begin, 256), 256), pl.ds(pl.multiple_of(cols_begin, 1280), 1280)],
            target_buffer_ref.at[slot_2, :, :],
            target_arrived_ref.at[slot_2],
        ).wait()
        target_buffer = target_buffer_ref[slot_2, :, :]  # divergence.py:35
        log_p = target_buffer.astype(jnp.float32)  # divergence.py:35
        q = jnp.exp(log_q)  # divergence.py:36
        p = jnp.exp(log_p)  # divergence.py:36
        v = 0.5 * p  # divergence.py:42
        v_2 = 0.5 * q  # divergence.py:42
        mean = v + v_2  # divergence.py:42
        log_mean = jnp.log(mean)  # divergence.py:43
        loss = v * log_p + v_2 * log_q - mean * log_mean  # divergence.py:44
        slope = v_2 * (log_q - log_mean)  # divergence.py:45
        total_3 = total_2 + jnp.sum(loss, axis=1).reshape((256, 1))  # divergence.py:46
        grad_ref[  # divergence.py:47
            :, pl.ds(pl.multiple_of(cols_begin, 1280), 1280)
        ] = (slope / 2048.0).astype(jnp.bfloat16)
        return total_3

    total_4 = jax.lax.fori_loop(0, 25, cols_body, total)  # divergence.py:34
    next_turn = turn + jnp.maximum(25, 0) & 1  # divergence.py:35
    target_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # divergence.py:35
    next_turn_2 = turn_2 + jnp.maximum(25, 0) & 1  # divergence.py:35
    predicted_turn_ref[0] = jnp.asarray(next_turn_2, jnp.int32)  # divergence.py:35
    total_5 = total_4.reshape((256,))  # divergence.py:34
    losses_ref[...] = total_5  # divergence.py:48


def js_divergence(predicted, target):
    grad, losses = pl.pallas_call(  # divergence.py:32
        js_divergence_kernel,
        grid=(8,),
        in_specs=[pl.BlockSpec(memory_space=pltpu.HBM), pl.BlockSpec(memory_space=pltpu.HBM)],
        out_specs=[pl.BlockSpec((256, 32000), lambda rows: (rows, 0)), pl.BlockSpec((256,), lambda rows: (rows,))],
        out_shape=[jax.ShapeDtypeStruct((2048, 32000), jnp.bfloat16), jax.ShapeDtypeStruct((2048,), jnp.float32)],
        scratch_shapes=[
            pltpu.VMEM((2, 256, 1280), jnp.bfloat16),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
            pltpu.VMEM((2, 256, 1280), jnp.bfloat16),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.SMEM((1,), jnp.int32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=89133056),
        name="js_divergence",
    )(pltpu.with_memory_space_constraint(predicted, pltpu.HBM), pltpu.with_memory_space_constraint(target, pltpu.HBM))
    v = jnp.sum(losses, dtype=jnp.float32)  # divergence.py:49
    v_2 = (v / 2048).astype(jnp.float32)  # divergence.py:49
    return v_2, grad
