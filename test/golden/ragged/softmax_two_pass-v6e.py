"""softmax_two_pass: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def softmax_two_pass_kernel(x_ref, out_ref):
    largest = jnp.full((32, 1), -jnp.inf, jnp.float32)  # softmax.py:37
    total = jnp.full((32, 1), 0.0, jnp.float32)  # softmax.py:38

    def cols_body(cols, carry):  # softmax.py:39
        largest_2, total_2 = carry
        cols_begin = cols * 128  # softmax.py:39
        values = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # softmax.py:40
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # softmax.py:41
        v = jnp.max(jnp.where(inside, values, -jnp.inf), axis=1).reshape((32, 1))  # softmax.py:41
        grown = jnp.maximum(largest_2, v)  # softmax.py:41
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # softmax.py:42
        v_2 = jnp.where(inside_2, jnp.exp(values - jnp.broadcast_to(grown, (32, 128))), 0.0)  # softmax.py:42
        total_3 = total_2 * jnp.exp(largest_2 - grown) + jnp.sum(v_2, axis=1).reshape((32, 1))  # softmax.py:42
        return (grown, total_3)

    largest_3, total_4 = jax.lax.fori_loop(0, 3, cols_body, (largest, total), unroll=3)  # softmax.py:39

    def cols_body_2(cols_2, _):  # softmax.py:44
        cols_begin_2 = cols_2 * 128  # softmax.py:44
        values_2 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # softmax.py:45
        out_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)] = (  # softmax.py:46
            jnp.exp(values_2 - jnp.broadcast_to(largest_3, (32, 128))) / jnp.broadcast_to(total_4, (32, 128))
        )
        return None

    jax.lax.fori_loop(0, 3, cols_body_2, None, unroll=3)  # softmax.py:44


def softmax_two_pass(x):
    out = pl.pallas_call(  # softmax.py:36
        softmax_two_pass_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((32, 384), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((32, 384), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="softmax_two_pass",
    )(x)
    return out
