"""running_sum: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def running_sum_kernel(x_ref, out_ref):
    before = jnp.full((32, 1), 0.0, jnp.float32)  # scans.py:14

    def cols_body(cols, before_2):  # scans.py:15
        cols_begin = cols * 128  # scans.py:15
        values = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # scans.py:16
        v = values == values  # scans.py:17
        v_2 = jnp.minimum(jnp.maximum(values, -3.4028235e+38), 3.4028235e+38)  # scans.py:17
        finite = jnp.where(v, v_2, 3.4028235e+38)  # scans.py:17
        flags = jnp.where(v, jnp.minimum(jnp.maximum(values - v_2, -1.0), 0.001953125), -0.99609375)  # scans.py:17
        v_3 = jax.lax.bitcast_convert_type(  # scans.py:17
            jax.lax.bitcast_convert_type(finite, jnp.int32) & -65536, jnp.float32
        )
        v_4 = finite - v_3  # scans.py:17
        v_5 = jax.lax.bitcast_convert_type(  # scans.py:17
            jax.lax.bitcast_convert_type(v_4, jnp.int32) & -65536, jnp.float32
        )
        v_6 = jnp.concatenate(  # scans.py:17
            [(v_4 - v_5).astype(jnp.bfloat16), v_5.astype(jnp.bfloat16), v_3.astype(jnp.bfloat16)], axis=1
        )
        v_8 = (  # scans.py:17
            jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) <= jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1)
        )
        v_9 = jnp.where(  # scans.py:17
            v_8, jnp.full((128, 128), 1.0, jnp.float32), jnp.full((128, 128), 0.0, jnp.float32)
        )
        ones = v_9.astype(jnp.bfloat16)  # scans.py:17
        ones_2 = jnp.concatenate([ones, ones, ones], axis=0)  # scans.py:17
        sums = jnp.dot(v_6, ones_2, preferred_element_type=jnp.float32)  # scans.py:17
        counts = jnp.dot(flags.astype(jnp.bfloat16), ones, preferred_element_type=jnp.float32)  # scans.py:17
        v_10 = jnp.full((32, 128), 0.0, jnp.float32)  # scans.py:17
        v_11 = jnp.where(counts < 0.0, jnp.full((32, 128), -jnp.inf, jnp.float32), v_10)  # scans.py:17
        out_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)] = (  # scans.py:17
            jnp.broadcast_to(before_2, (32, 128)) + (jnp.where(counts == jnp.floor(counts), sums, jnp.inf) + v_11)
        )
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # scans.py:18
        v_12 = jnp.sum(jnp.where(inside, values, 0.0), axis=1).reshape((32, 1))  # scans.py:18
        before_3 = before_2 + v_12  # scans.py:18
        return before_3

    before_4 = jax.lax.fori_loop(0, 3, cols_body, before, unroll=3)  # scans.py:15


def running_sum(x):
    out = pl.pallas_call(  # scans.py:13
        running_sum_kernel,
        grid=(2,),
        in_specs=[pl.BlockSpec((32, 384), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((32, 384), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((35, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="running_sum",
    )(x)
    return out
