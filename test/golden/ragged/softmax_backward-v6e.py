"""softmax_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def softmax_backward_kernel(grad_ref, y_ref, out_ref):
    shared = jnp.full((32, 1), 0.0, jnp.float32)  # softmax.py:55

    def cols_body(cols, shared_2):  # softmax.py:56
        cols_begin = cols * 128  # softmax.py:56
        grad = grad_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # softmax.py:57
        y = y_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # softmax.py:57
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 333 - cols_begin  # softmax.py:57
        v = jnp.sum(jnp.where(inside, grad * y, 0.0), axis=1).reshape((32, 1))  # softmax.py:57
        shared_3 = shared_2 + v  # softmax.py:57
        return shared_3

    shared_4 = jax.lax.fori_loop(0, 3, cols_body, shared, unroll=3)  # softmax.py:56

    def cols_body_2(cols_2, _):  # softmax.py:58
        cols_begin_2 = cols_2 * 128  # softmax.py:58
        grad_2 = grad_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # softmax.py:59
        y_2 = y_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)]  # softmax.py:59
        out_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 128), 128)] = (  # softmax.py:59
            (grad_2 - jnp.broadcast_to(shared_4, (32, 128))) * y_2
        )
        return None

    jax.lax.fori_loop(0, 3, cols_body_2, None, unroll=3)  # softmax.py:58


def softmax_backward(grad, y):
    out = pl.pallas_call(  # softmax.py:54
        softmax_backward_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((32, 384), lambda rows: (rows, 0)), pl.BlockSpec((32, 384), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((32, 384), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="softmax_backward",
    )(grad, y)
    return out
