"""grouped_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grouped_matmul_kernel(
    offsets_ref, x_ref, weights_ref, out_ref, out_buffer_ref, out_sent_ref, out_old_ref, out_fetched_ref
):
    g = pl.program_id(0)
    offsets = offsets_ref[g]  # packed.py:57
    offsets_2 = offsets_ref[g + 1]  # packed.py:57
    v = offsets.astype(jnp.int32)  # packed.py:57
    v_2 = offsets_2.astype(jnp.int32)  # packed.py:57
    m_first = v >> 4  # packed.py:57
    m_blocks = jnp.where(v_2 > v, v_2 - m_first * 16 + 255 >> 8, 0)  # packed.py:57

    def m_number_body(m_number, _):  # packed.py:57
        slot = m_number & 1  # packed.py:57
        later = m_number > 0  # packed.py:57
        v_3 = m_first + m_number * 16  # packed.py:57
        m_begin = jnp.minimum(v_3, 240) * 16  # packed.py:57
        m_start = jnp.maximum(v, v_3 * 16)  # packed.py:57
        shared = (m_start > m_begin) | (v_2 < m_begin + 256)  # packed.py:57

        @pl.when(shared)  # packed.py:57
        def _():
            @pl.when(later)  # packed.py:57
            def _():
                other_slot = 1 - slot  # packed.py:57
                pltpu.make_async_copy(  # packed.py:57
                    out_buffer_ref.at[other_slot, :, :],
                    out_buffer_ref.at[other_slot, :, :],
                    out_sent_ref.at[other_slot],
                ).wait()

            pltpu.make_async_copy(  # packed.py:57
                out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
                out_old_ref.at[...],
                out_fetched_ref.at[0],
            ).start()

        acc = jnp.full((256, 768), 0.0, jnp.float32)  # packed.py:58
        x = x_ref[pl.ds(pl.multiple_of(m_begin, 16), 256), :]  # packed.py:60
        weights = weights_ref[...]  # packed.py:60
        inside = jax.lax.broadcasted_iota(jnp.int32, (256, 1024), 1) < 1000  # packed.py:60
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (1024, 768), 0) < 1000  # packed.py:60
        acc_2 = acc + jnp.dot(  # packed.py:60
            jnp.where(inside, x, 0.0), jnp.where(inside_2, weights, 0.0), preferred_element_type=jnp.float32
        )
        v_4 = acc_2.astype(jnp.bfloat16)  # packed.py:61
        v_5 = m_begin + jax.lax.broadcasted_iota(jnp.int32, (256, 768), 0)  # packed.py:57
        inside_3 = (  # packed.py:57
            (v_5 >= jnp.full((256, 768), m_start, jnp.int32)) & (v_5 < jnp.full((256, 768), v_2, jnp.int32))
        )

        @pl.when(shared)  # packed.py:57
        def _():
            pltpu.make_async_copy(  # packed.py:57
                out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
                out_old_ref.at[...],
                out_fetched_ref.at[0],
            ).wait()

        old = out_old_ref[...]  # packed.py:57
        new = jnp.where(inside_3, v_4, old)  # packed.py:57
        out_buffer_ref[slot, :, :] = new  # packed.py:57

        @pl.when(later)  # packed.py:57
        def _():
            @pl.when(jnp.logical_not(shared))  # packed.py:57
            def _():
                other_slot_2 = 1 - slot  # packed.py:57
                pltpu.make_async_copy(  # packed.py:57
                    out_buffer_ref.at[other_slot_2, :, :],
                    out_buffer_ref.at[other_slot_2, :, :],
                    out_sent_ref.at[other_slot_2],
                ).wait()

        pltpu.make_async_copy(  # packed.py:57
            out_buffer_ref.at[slot, :, :],
            out_ref.at[pl.ds(pl.multiple_of(m_begin, 16), 256), :],
            out_sent_ref.at[slot],
        ).start()
        return None

    jax.lax.fori_loop(0, m_blocks, m_number_body, None)  # packed.py:57
    some = m_blocks > 0  # packed.py:57

    @pl.when(some)  # packed.py:57
    def _():
        last = m_blocks - 1  # packed.py:57
        last_slot = last & 1  # packed.py:57
        pltpu.make_async_copy(  # packed.py:57
            out_buffer_ref.at[last_slot, :, :],
            out_buffer_ref.at[last_slot, :, :],
            out_sent_ref.at[last_slot],
        ).wait()


def grouped_matmul(x, weights, offsets):
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:56
    with jax.enable_x64(False):
        out = pl.pallas_call(  # packed.py:56
            grouped_matmul_kernel,
            grid=(16,),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((4096, 1024), lambda g: (0, 0)),
                pl.BlockSpec((None, 1024, 768), lambda g: (g, 0, 0)),
            ],
            out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
            out_shape=jax.ShapeDtypeStruct((4096, 768), jnp.bfloat16),
            scratch_shapes=[
                pltpu.VMEM((2, 256, 768), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((2,)),
                pltpu.VMEM((256, 768), jnp.bfloat16),
                pltpu.SemaphoreType.DMA((1,)),
            ],
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=41680896),
            name="grouped_matmul",
        )(offsets_2, x, weights)
    return out
