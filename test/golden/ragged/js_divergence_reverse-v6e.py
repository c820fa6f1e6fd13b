"""js_divergence: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def js_divergence_kernel(predicted_ref, target_ref, grad_ref, losses_ref):
    total = jnp.full((16, 1), 0.0, jnp.float32)  # divergence.py:33

    def cols_body(cols, total_2):  # divergence.py:34
        cols_begin = cols * 128  # divergence.py:34
        log_q = predicted_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # divergence.py:35
        log_p = target_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # divergence.py:35
        q = jnp.exp(log_q)  # divergence.py:36
        v = log_q - log_p  # divergence.py:40
        loss = q * v  # divergence.py:40
        slope = q * (v + 1.0)  # divergence.py:40
        inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 333 - cols_begin  # divergence.py:46
        v_2 = jnp.sum(jnp.where(inside, loss, 0.0), axis=1).reshape((16, 1))  # divergence.py:46
        total_3 = total_2 + v_2  # divergence.py:46
        grad_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)] = slope / 35.0  # divergence.py:47
        return total_3

    total_4 = jax.lax.fori_loop(0, 3, cols_body, total, unroll=3)  # divergence.py:34
    total_5 = total_4.reshape((16,))  # divergence.py:34
    losses_ref[0, :] = total_5  # divergence.py:48


def js_divergence(predicted, target):
    grad, losses = pl.pallas_call(  # divergence.py:32
        js_divergence_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((16, 384), lambda rows: (rows, 0)), pl.BlockSpec((16, 384), lambda rows: (rows, 0))],
        out_specs=[
            pl.BlockSpec((16, 384), lambda rows: (rows, 0)),
            pl.BlockSpec((None, 1, 16), lambda rows: (rows, 0, 0)),
        ],
        out_shape=[jax.ShapeDtypeStruct((35, 333), jnp.float32), jax.ShapeDtypeStruct((3, 1, 16), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="js_divergence",
    )(predicted, target)
    losses_2 = losses.reshape((48,))[:35]  # divergence.py:32
    v = jnp.sum(losses_2, dtype=jnp.float32)  # divergence.py:49
    v_2 = (v / 35).astype(jnp.float32)  # divergence.py:49
    return v_2, grad
