"""two_phase_sum: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def two_phase_sum_0_kernel(x_ref, sums_ref):
    outer = pl.program_id(1)
    outer_begin = outer * 16250
    total = jnp.full((4, 1), 0.0, jnp.float32)  # sums.py:56
    v = jnp.minimum(outer_begin + 16250, 130000)  # sums.py:57
    cols_first = outer_begin >> 7  # sums.py:57
    cols_blocks = jnp.where(v > outer_begin, v - cols_first * 128 + 16383 >> 14, 0)  # sums.py:57

    def cols_number_body(cols_number, total_2):  # sums.py:57
        v_2 = cols_first + cols_number * 128  # sums.py:57
        cols_begin = jnp.minimum(v_2, 888) * 128  # sums.py:57
        cols_start = jnp.maximum(outer_begin, v_2 * 128)  # sums.py:57
        x = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 16384)]  # sums.py:58
        v_3 = x.astype(jnp.float32)  # sums.py:58
        v_4 = cols_begin + jax.lax.broadcasted_iota(jnp.int32, (4, 16384), 1)  # sums.py:57
        inside = (  # sums.py:57
            (v_4 >= jnp.full((4, 16384), cols_start, jnp.int32)) & (v_4 < jnp.full((4, 16384), v, jnp.int32))
        )
        v_5 = jnp.where(inside, v_3, 0.0)  # sums.py:57
        total_3 = total_2 + jnp.sum(v_5, axis=1).reshape((4, 1))  # sums.py:58
        return total_3

    total_4 = jax.lax.fori_loop(0, cols_blocks, cols_number_body, total)  # sums.py:57
    total_5 = total_4.reshape((4,))  # sums.py:57
    sums_ref[0, :] = total_5  # sums.py:59


def two_phase_sum_1_kernel(sums_ref, out_ref):
    sums = sums_ref[...]  # sums.py:62
    out_ref[0, :] = jnp.sum(sums, axis=0).astype(jnp.bfloat16)  # sums.py:62


def two_phase_sum(x):
    v = jnp.pad(x, [(0, 0), (0, 48)])  # sums.py:55
    sums = pl.pallas_call(  # sums.py:55
        two_phase_sum_0_kernel,
        grid=(1, 8),
        in_specs=[pl.BlockSpec((4, 130048), lambda rows, outer: (rows, 0))],
        out_specs=pl.BlockSpec((None, 1, 4), lambda rows, outer: (outer, 0, rows)),
        out_shape=jax.ShapeDtypeStruct((8, 1, 4), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="two_phase_sum_0",
    )(v)
    sums_2 = sums.reshape((8, 4))  # sums.py:55
    out = pl.pallas_call(  # sums.py:61
        two_phase_sum_1_kernel,
        grid=(1,),
        in_specs=[pl.BlockSpec((8, 128), lambda rows: (0, rows))],
        out_specs=pl.BlockSpec((None, 1, 128), lambda rows: (rows, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((1, 1, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="two_phase_sum_1",
    )(sums_2)
    out_2 = out.reshape((128,))[:4]  # sums.py:61
    return out_2
