"""grouped_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def grouped_matmul_kernel(offsets_ref, weights_ref, x_ref, out_ref):
    g = pl.program_id(0)
    offsets = offsets_ref[g]  # packed.py:57
    offsets_2 = offsets_ref[g + 1]  # packed.py:57
    v = offsets.astype(jnp.int32)  # packed.py:57
    v_2 = offsets_2.astype(jnp.int32)  # packed.py:57
    m_first = v >> 3  # packed.py:57
    m_blocks = jnp.where(v_2 > v, v_2 - m_first * 8 + 15 >> 4, 0)  # packed.py:57

    def m_number_body(m_number, _):  # packed.py:57
        v_3 = m_first + m_number * 2  # packed.py:57
        m_begin = jnp.minimum(v_3, 8) * 8  # packed.py:57
        m_start = jnp.maximum(v, v_3 * 8)  # packed.py:57

        def n_body(n, _):  # packed.py:57
            n_begin = n * 128  # packed.py:57
            acc = jnp.full((16, 128), 0.0, jnp.float32)  # packed.py:58

            def k_body(k, acc_2):  # packed.py:59
                k_begin = k * 128  # packed.py:59
                x = x_ref[  # packed.py:60
                    pl.ds(pl.multiple_of(m_begin, 8), 16), pl.ds(pl.multiple_of(k_begin, 128), 128)
                ]
                weights = weights_ref[  # packed.py:60
                    pl.ds(pl.multiple_of(k_begin, 128), 128), pl.ds(pl.multiple_of(n_begin, 128), 128)
                ]
                inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 200 - k_begin  # packed.py:60
                inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 200 - k_begin  # packed.py:60
                acc_3 = acc_2 + jnp.dot(  # packed.py:60
                    jnp.where(inside, x, 0.0),
                    jnp.where(inside_2, weights, 0.0),
                    precision=jax.lax.Precision.HIGHEST,
                    preferred_element_type=jnp.float32,
                )
                return acc_3

            acc_4 = jax.lax.fori_loop(0, 2, k_body, acc)  # packed.py:59
            v_4 = m_begin + jax.lax.broadcasted_iota(jnp.int32, (16, 128), 0)  # packed.py:57
            inside_3 = (  # packed.py:57
                (v_4 >= jnp.full((16, 128), m_start, jnp.int32)) & (v_4 < jnp.full((16, 128), v_2, jnp.int32))
            )
            old = out_ref[  # packed.py:57
                pl.ds(pl.multiple_of(m_begin, 8), 16), pl.ds(pl.multiple_of(n_begin, 128), 128)
            ]
            new = jnp.where(inside_3, acc_4, old)  # packed.py:57
            out_ref[  # packed.py:57
                pl.ds(pl.multiple_of(m_begin, 8), 16), pl.ds(pl.multiple_of(n_begin, 128), 128)
            ] = new
            return None

        jax.lax.fori_loop(0, 3, n_body, None)  # packed.py:57
        return None

    jax.lax.fori_loop(0, m_blocks, m_number_body, None)  # packed.py:57


def grouped_matmul(x, weights, offsets):
    v = jnp.pad(x, [(0, 5), (0, 0)])  # packed.py:56
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:56
    with jax.enable_x64(False):
        out = pl.pallas_call(  # packed.py:56
            grouped_matmul_kernel,
            grid=(5,),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((None, 256, 384), lambda g: (g, 0, 0)),
                pl.BlockSpec((80, 256), lambda g: (0, 0)),
            ],
            out_specs=pl.BlockSpec((80, 384), lambda g: (0, 0)),
            out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
            name="grouped_matmul",
        )(offsets_2, weights, v)
    return out
