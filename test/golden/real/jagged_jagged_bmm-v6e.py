"""jagged_jagged_bmm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def jagged_jagged_bmm_kernel(offsets_ref, x_ref, y_ref, out_ref, x_buffer_ref, x_arrived_ref, x_turn_ref):
    i = pl.program_id(0)
    begin = offsets_ref[i]  # packed.py:42
    end = offsets_ref[i + 1]  # packed.py:42
    acc = jnp.full((256, 512), 0.0, jnp.float32)  # packed.py:44
    v = begin.astype(jnp.int32)  # packed.py:45
    v_2 = end.astype(jnp.int32)  # packed.py:45
    k_first = v >> 4  # packed.py:45
    k_blocks = jnp.where(v_2 > v, v_2 - k_first * 16 + 127 >> 7, 0)  # packed.py:45

    @pl.when(i == 0)  # packed.py:46
    def _():
        x_turn_ref[0] = jnp.asarray(0, jnp.int32)  # packed.py:46
        some = k_blocks > 0  # packed.py:46

        @pl.when(some)  # packed.py:46
        def _():
            first_k_begin = jnp.minimum(k_first, 492) * 16  # packed.py:46
            pltpu.make_async_copy(  # packed.py:46
                x_ref.at[pl.ds(pl.multiple_of(first_k_begin, 16), 128), :],
                x_buffer_ref.at[0, :, :],
                x_arrived_ref.at[0],
            ).start()

    x_turn = x_turn_ref[0]  # packed.py:46
    turn = x_turn.astype(jnp.int32)  # packed.py:46
    next_cell = jnp.minimum(i + 1, 63)  # packed.py:46
    next_cell_end = offsets_ref[next_cell + 1]  # packed.py:46
    v_3 = next_cell_end.astype(jnp.int32)  # packed.py:46
    next_cell_begin = offsets_ref[next_cell]  # packed.py:46
    v_4 = next_cell_begin.astype(jnp.int32)  # packed.py:46
    next_cell_k_first = v_4 >> 4  # packed.py:46
    next_cell_k_blocks = jnp.where(v_3 > v_4, v_3 - next_cell_k_first * 16 + 127 >> 7, 0)  # packed.py:46
    next_cell_k_begin = jnp.minimum(next_cell_k_first, 492) * 16  # packed.py:46
    ahead = (next_cell_k_blocks > 0) & (i < 63)  # packed.py:46
    idle = (k_blocks <= 0) & ahead  # packed.py:46

    @pl.when(idle)  # packed.py:46
    def _():
        pltpu.make_async_copy(  # packed.py:46
            x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 16), 128), :],
            x_buffer_ref.at[turn, :, :],
            x_arrived_ref.at[turn],
        ).start()

    def k_number_body(k_number, acc_2):  # packed.py:45
        v_5 = k_first + k_number * 8  # packed.py:45
        k_begin = jnp.minimum(v_5, 492) * 16  # packed.py:45
        k_start = jnp.maximum(v, v_5 * 16)  # packed.py:45
        slot = k_number + turn & 1  # packed.py:46
        next_k_number_number = k_number + 1  # packed.py:46
        more = next_k_number_number < k_blocks  # packed.py:46
        other_slot = 1 - slot  # packed.py:46

        @pl.when(more)  # packed.py:46
        def _():
            next_k_begin = jnp.minimum(k_first + next_k_number_number * 8, 492) * 16  # packed.py:46
            pltpu.make_async_copy(  # packed.py:46
                x_ref.at[pl.ds(pl.multiple_of(next_k_begin, 16), 128), :],
                x_buffer_ref.at[other_slot, :, :],
                x_arrived_ref.at[other_slot],
            ).start()

        @pl.when(jnp.logical_not(more))  # packed.py:46
        def _():
            @pl.when(ahead)  # packed.py:46
            def _():
                pltpu.make_async_copy(  # packed.py:46
                    x_ref.at[pl.ds(pl.multiple_of(next_cell_k_begin, 16), 128), :],
                    x_buffer_ref.at[other_slot, :, :],
                    x_arrived_ref.at[other_slot],
                ).start()

        pltpu.make_async_copy(  # packed.py:46
            x_ref.at[pl.ds(pl.multiple_of(k_begin, 16), 128), :],
            x_buffer_ref.at[slot, :, :],
            x_arrived_ref.at[slot],
        ).wait()
        x_buffer = x_buffer_ref[slot, :, :]  # packed.py:46
        v_6 = x_buffer.T  # packed.py:46
        y = y_ref[pl.ds(pl.multiple_of(k_begin, 16), 128), :]  # packed.py:46
        v_7 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (256, 128), 1)  # packed.py:45
        inside = (  # packed.py:45
            (v_7 >= jnp.full((256, 128), k_start, jnp.int32)) & (v_7 < jnp.full((256, 128), v_2, jnp.int32))
        )
        v_8 = jnp.where(inside, v_6, 0.0)  # packed.py:45
        v_9 = k_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 512), 0)  # packed.py:45
        inside_2 = (  # packed.py:45
            (v_9 >= jnp.full((128, 512), k_start, jnp.int32)) & (v_9 < jnp.full((128, 512), v_2, jnp.int32))
        )
        v_10 = jnp.where(inside_2, y, 0.0)  # packed.py:45
        acc_3 = acc_2 + jnp.dot(v_8, v_10, preferred_element_type=jnp.float32)  # packed.py:46
        return acc_3

    acc_4 = jax.lax.fori_loop(0, k_blocks, k_number_body, acc)  # packed.py:45
    next_turn = turn + jnp.maximum(k_blocks, 0) & 1  # packed.py:46
    x_turn_ref[0] = jnp.asarray(next_turn, jnp.int32)  # packed.py:46
    out_ref[...] = acc_4.astype(jnp.bfloat16)  # packed.py:47


def jagged_jagged_bmm(x, y, offsets):
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:41
    with jax.enable_x64(False):
        out = pl.pallas_call(  # packed.py:41
            jagged_jagged_bmm_kernel,
            grid=(64,),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec(memory_space=pltpu.HBM),
                pl.BlockSpec((8000, 512), lambda i: (0, 0)),
            ],
            out_specs=pl.BlockSpec((None, 256, 512), lambda i: (i, 0, 0)),
            out_shape=jax.ShapeDtypeStruct((64, 256, 300), jnp.bfloat16),
            scratch_shapes=[
                pltpu.VMEM((2, 128, 256), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.SMEM((1,), jnp.int32),
            ],
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
            name="jagged_jagged_bmm",
        )(offsets_2, pltpu.with_memory_space_constraint(x, pltpu.HBM), y)
    return out
