"""grouped_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grouped_matmul_kernel(offsets_ref, x_ref, weights_ref, out_ref, new_out_ref, new_out_buffer_ref, new_out_sent_ref, new_out_old_ref, new_out_fetched_ref):
    g = pl.program_id(0)
    v = offsets_ref[g]  # packed.py:57
    v_2 = g + 1  # packed.py:57
    v_3 = offsets_ref[v_2]  # packed.py:57
    v_4 = v.astype(jnp.int32)  # packed.py:57
    v_5 = v_3.astype(jnp.int32)  # packed.py:57
    m_first = v_4 >> 4  # packed.py:57
    v_6 = m_first * 16  # packed.py:57
    v_7 = v_5 - v_6  # packed.py:57
    v_8 = v_7 + 255  # packed.py:57
    v_9 = v_8 >> 8  # packed.py:57
    v_10 = v_5 > v_4  # packed.py:57
    m_blocks = jnp.where(v_10, v_9, 0)  # packed.py:57

    def m_number_body(m_number, _):  # packed.py:57
        slot = m_number & 1  # packed.py:57
        later = m_number > 0  # packed.py:57
        v_11 = m_number * 16  # packed.py:57
        v_12 = m_first + v_11  # packed.py:57
        v_13 = jnp.minimum(v_12, 240)  # packed.py:57
        m_begin = v_13 * 16  # packed.py:57
        v_14 = v_12 * 16  # packed.py:57
        m_start = jnp.maximum(v_4, v_14)  # packed.py:57
        v_15 = m_begin + 256  # packed.py:57
        v_16 = m_start > m_begin  # packed.py:57
        v_17 = v_5 < v_15  # packed.py:57
        shared = v_16 | v_17  # packed.py:57

        @pl.when(shared)  # packed.py:57
        def _():
            @pl.when(later)  # packed.py:57
            def _():
                other_slot = 1 - slot  # packed.py:57
                pltpu.make_async_copy(  # packed.py:57
                    new_out_buffer_ref.at[other_slot, :, :],
                    new_out_buffer_ref.at[other_slot, :, :],
                    new_out_sent_ref.at[other_slot],
                ).wait()

            pltpu.make_async_copy(  # packed.py:57
                new_out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).start()

        acc = jnp.full((256, 768), 0.0, jnp.float32)  # packed.py:58
        v_18 = x_ref[pl.ds(pl.multiple_of(m_begin, 16), 256), :]  # packed.py:60
        v_19 = weights_ref[...]  # packed.py:60
        inside = (jax.lax.broadcasted_iota(jnp.int32, (256, 1024), 1) < 1000)  # packed.py:60
        v_20 = jnp.where(inside, v_18, 0.0)  # packed.py:60
        inside_2 = (jax.lax.broadcasted_iota(jnp.int32, (1024, 768), 0) < 1000)  # packed.py:60
        v_21 = jnp.where(inside_2, v_19, 0.0)  # packed.py:60
        acc_2 = acc + jnp.dot(v_20, v_21, preferred_element_type=jnp.float32)  # packed.py:60
        v_22 = acc_2.astype(jnp.bfloat16)  # packed.py:61
        v_23 = m_begin + jax.lax.broadcasted_iota(jnp.int32, (256, 768), 0)  # packed.py:57
        v_24 = jnp.full((256, 768), m_start, jnp.int32)  # packed.py:57
        v_25 = jnp.full((256, 768), v_5, jnp.int32)  # packed.py:57
        v_26 = v_23 >= v_24  # packed.py:57
        v_27 = v_23 < v_25  # packed.py:57
        inside_3 = v_26 & v_27  # packed.py:57

        @pl.when(shared)  # packed.py:57
        def _():
            pltpu.make_async_copy(  # packed.py:57
                new_out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
                new_out_old_ref.at[...],
                new_out_fetched_ref.at[0],
            ).wait()

        old = new_out_old_ref[...]  # packed.py:57
        new = jnp.where(inside_3, v_22, old)  # packed.py:57
        new_out_buffer_ref[slot, :, :] = new  # packed.py:57

        @pl.when(later)  # packed.py:57
        def _():
            @pl.when(jnp.logical_not(shared))  # packed.py:57
            def _():
                other_slot_2 = 1 - slot  # packed.py:57
                pltpu.make_async_copy(  # packed.py:57
                    new_out_buffer_ref.at[other_slot_2, :, :],
                    new_out_buffer_ref.at[other_slot_2, :, :],
                    new_out_sent_ref.at[other_slot_2],
                ).wait()

        pltpu.make_async_copy(  # packed.py:57
            new_out_buffer_ref.at[slot, :, :],
            new_out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
            new_out_sent_ref.at[slot],
        ).start()
        return None

    jax.lax.fori_loop(0, m_blocks, m_number_body, None)  # packed.py:57
    some = m_blocks > 0  # packed.py:57

    @pl.when(some)  # packed.py:57
    def _():
        last = m_blocks - 1  # packed.py:57
        last_slot = last & 1  # packed.py:57
        pltpu.make_async_copy(  # packed.py:57
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_buffer_ref.at[last_slot, :, :],
            new_out_sent_ref.at[last_slot],
        ).wait()


def grouped_matmul(x, weights, offsets):
    out = jnp.zeros((4096, 768), jnp.bfloat16)  # packed.py:55
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:56
    with jax.enable_x64(False):
        out_2 = pl.pallas_call(  # packed.py:56
            grouped_matmul_kernel,
            grid=(16,),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((4096, 1024), lambda g: (0, 0)),
                pl.BlockSpec((None, 1024, 768), lambda g: (g, 0, 0)),
                pl.BlockSpec(memory_space=pltpu.HBM),
            ],
            out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
            out_shape=jax.ShapeDtypeStruct((4096, 768), jnp.bfloat16),
            scratch_shapes=[
                pltpu.VMEM((2, 256, 768), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.VMEM((256, 768), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((1,)),
            ],
            input_output_aliases={3: 0},
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=58458112),
            name="grouped_matmul",
        )(offsets_2, x, weights, out)
    return out_2
