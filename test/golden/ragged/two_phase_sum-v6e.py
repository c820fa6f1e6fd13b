"""two_phase_sum: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def two_phase_sum_0_kernel(x_ref, sums_ref):
    outer = pl.program_id(1)
    outer_begin = outer * 375

    @pl.when(outer == 0)  # sums.py:55
    def _():
        total = jnp.full((8, 1), 0.0, jnp.float32)  # sums.py:56

        def cols_number_body(cols_number, total_2):  # sums.py:57
            cols_begin = jnp.minimum(cols_number, 23) * 128  # sums.py:57
            x = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # sums.py:58
            total_3 = total_2 + jnp.sum(x, axis=1).reshape((8, 1))  # sums.py:58
            return total_3

        total_4 = jax.lax.fori_loop(0, 2, cols_number_body, total, unroll=2)  # sums.py:57
        x_2 = x_ref[:, 256:384]  # sums.py:58
        inside = 256 + jax.lax.broadcasted_iota(jnp.int32, (8, 128), 1) < 375  # sums.py:57
        v = jnp.where(inside, x_2, 0.0)  # sums.py:57
        total_5 = total_4 + jnp.sum(v, axis=1).reshape((8, 1))  # sums.py:58
        total_6 = total_5.reshape((8,))  # sums.py:57
        sums_ref[0, :] = total_6  # sums.py:59

    @pl.when(outer >= 1)  # sums.py:55
    def _():
        total_7 = jnp.full((8, 1), 0.0, jnp.float32)  # sums.py:56
        v_2 = jnp.minimum(outer_begin + 375, 3000)  # sums.py:57
        cols_first = outer_begin >> 7  # sums.py:57
        cols_begin_2 = jnp.minimum(cols_first, 23) * 128  # sums.py:57
        cols_start = jnp.maximum(outer_begin, cols_first * 128)  # sums.py:57
        x_3 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # sums.py:58
        v_3 = cols_begin_2 + jax.lax.broadcasted_iota(jnp.int32, (8, 128), 1)  # sums.py:57
        inside_2 = v_3 >= jnp.full((8, 128), cols_start, jnp.int32)  # sums.py:57
        v_4 = jnp.where(inside_2, x_3, 0.0)  # sums.py:57
        total_8 = total_7 + jnp.sum(v_4, axis=1).reshape((8, 1))  # sums.py:58

        def cols_number_body_2(cols_number_2, total_9):  # sums.py:57
            cols_begin_3 = jnp.minimum(cols_first + (cols_number_2 + 1), 23) * 128  # sums.py:57
            x_4 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_3, 128), 128)]  # sums.py:58
            total_10 = total_9 + jnp.sum(x_4, axis=1).reshape((8, 1))  # sums.py:58
            return total_10

        total_11 = jax.lax.fori_loop(0, 2, cols_number_body_2, total_8, unroll=2)  # sums.py:57
        cols_begin_4 = jnp.minimum(cols_first + 3, 23) * 128  # sums.py:57
        x_5 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_4, 128), 128)]  # sums.py:58
        v_5 = cols_begin_4 + jax.lax.broadcasted_iota(jnp.int32, (8, 128), 1)  # sums.py:57
        inside_3 = v_5 < jnp.full((8, 128), v_2, jnp.int32)  # sums.py:57
        v_6 = jnp.where(inside_3, x_5, 0.0)  # sums.py:57
        total_12 = total_11 + jnp.sum(v_6, axis=1).reshape((8, 1))  # sums.py:58
        total_13 = total_12.reshape((8,))  # sums.py:57
        sums_ref[0, :] = total_13  # sums.py:59


def two_phase_sum_1_kernel(sums_ref, out_ref):
    sums = sums_ref[...]  # sums.py:62
    out_ref[0, :] = jnp.sum(sums, axis=0)  # sums.py:62


def two_phase_sum(x):
    v = jnp.pad(x, [(0, 0), (0, 72)])  # sums.py:55
    sums = pl.pallas_call(  # sums.py:55
        two_phase_sum_0_kernel,
        grid=(1, 8),
        in_specs=[pl.BlockSpec((8, 3072), lambda rows, outer: (rows, 0))],
        out_specs=pl.BlockSpec((None, None, 1, 8), lambda rows, outer: (rows, outer, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((1, 8, 1, 8), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="two_phase_sum_0",
    )(v)
    sums_2 = jnp.transpose(sums.reshape((1, 8, 8)), (1, 0, 2)).reshape((8, 8))  # sums.py:55
    sums_3 = sums_2[:8, :5]  # sums.py:55
    sums_4 = jnp.transpose(jnp.pad(sums_3, [(0, 0), (0, 3)]).reshape((8, 1, 8)), (1, 0, 2))  # sums.py:61
    out = pl.pallas_call(  # sums.py:61
        two_phase_sum_1_kernel,
        grid=(1,),
        in_specs=[pl.BlockSpec((None, 8, 8), lambda rows: (rows, 0, 0))],
        out_specs=pl.BlockSpec((None, 1, 8), lambda rows: (rows, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((1, 1, 8), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="two_phase_sum_1",
    )(sums_4)
    out_2 = out.reshape((8,))[:5]  # sums.py:61
    return out_2
