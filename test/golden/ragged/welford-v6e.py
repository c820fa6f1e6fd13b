"""welford: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def welford_kernel(x_ref, weight_ref, bias_ref, out_ref):
    count = jnp.full((32, 1), 0.0, jnp.float32)  # welford.py:16

    def cols_body(cols, carry):  # welford.py:19
        count_2, mean, squares = carry
        cols_begin = cols * 128  # welford.py:19
        chunk = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # welford.py:20
        size = jnp.minimum(cols_begin + 128, 333) - cols_begin  # welford.py:21
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # welford.py:22
        v = jnp.sum(jnp.where(inside, chunk, 0.0), axis=1).reshape((32, 1))  # welford.py:22
        v_2 = jnp.broadcast_to(jnp.asarray(size, jnp.int32).astype(jnp.float32), (32,))  # welford.py:22
        v_3 = v_2.reshape((32, 1))  # welford.py:22
        chunk_mean = v / v_3  # welford.py:22
        centred = chunk - jnp.broadcast_to(chunk_mean, (32, 128))  # welford.py:23
        delta = chunk_mean - mean  # welford.py:24
        grown = count_2 + v_3  # welford.py:25
        v_4 = v_3 / grown  # welford.py:26
        mean_2 = mean + delta * v_4  # welford.py:26
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # welford.py:27
        v_5 = jnp.sum(jnp.where(inside_2, centred * centred, 0.0), axis=1).reshape((32, 1))  # welford.py:27
        squares_2 = squares + v_5 + delta * delta * count_2 * v_4  # welford.py:27
        return (grown, mean_2, squares_2)

    count_3, mean_3, squares_3 = jax.lax.fori_loop(0, 3, cols_body, (count, count, count), unroll=3)  # welford.py:19
    rstd = jax.lax.rsqrt(squares_3 / count_3 + 1e-05)  # welford.py:29

    def cols_body_2(cols_2, _):  # welford.py:30
        cols_begin_2 = cols_2 * 128  # welford.py:30
        chunk_2 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # welford.py:31
        v_6 = (chunk_2 - jnp.broadcast_to(mean_3, (32, 128))) * jnp.broadcast_to(rstd, (32, 128))  # welford.py:32
        weight = weight_ref[pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # welford.py:32
        scaled = v_6 * jnp.broadcast_to(weight.reshape((1, 128)), (32, 128))  # welford.py:32
        bias = bias_ref[pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # welford.py:33
        out_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)] = (  # welford.py:33
            scaled + jnp.broadcast_to(bias.reshape((1, 128)), (32, 128))
        )
        return None

    jax.lax.fori_loop(0, 3, cols_body_2, None, unroll=3)  # welford.py:30


def welford(x, weight, bias):
    out = pl.pallas_call(  # welford.py:15
        welford_kernel,
        grid=(3,),
        in_specs=[
            pl.BlockSpec((32, 384), lambda rows: (rows, 0)),
            pl.BlockSpec((512,), lambda rows: (0,)),
            pl.BlockSpec((512,), lambda rows: (0,)),
        ],
        out_specs=pl.BlockSpec((32, 384), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="welford",
    )(x, weight, bias)
    return out
