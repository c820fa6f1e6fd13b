"""kl_divergence: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kl_divergence_kernel(target_ref, predicted_ref, losses_ref):
    total = jnp.full((16, 1), 0.0, jnp.float32)  # divergence.py:14

    def cols_body(cols, total_2):  # divergence.py:15
        cols_begin = cols * 128  # divergence.py:15
        wanted = target_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # divergence.py:16
        logarithm = jnp.log(jnp.maximum(wanted, 1e-10))  # divergence.py:20
        predicted = predicted_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # divergence.py:21
        inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 333 - cols_begin  # divergence.py:21
        v = jnp.sum(jnp.where(inside, wanted * (logarithm - predicted), 0.0), axis=1)  # divergence.py:21
        total_3 = total_2 + v.reshape((16, 1))  # divergence.py:21
        return total_3

    total_4 = jax.lax.fori_loop(0, 3, cols_body, total, unroll=3)  # divergence.py:15
    total_5 = total_4.reshape((16,))  # divergence.py:15
    losses_ref[0, :] = total_5  # divergence.py:22


def kl_divergence(predicted, target):
    losses = pl.pallas_call(  # divergence.py:13
        kl_divergence_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((16, 384), lambda rows: (rows, 0)), pl.BlockSpec((16, 384), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((None, 1, 16), lambda rows: (rows, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 1, 16), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="kl_divergence",
    )(target, predicted)
    losses_2 = losses.reshape((48,))[:35]  # divergence.py:13
    v = jnp.sum(losses_2, dtype=jnp.float32)  # divergence.py:23
    v_2 = (v / 35).astype(jnp.float32)  # divergence.py:23
    return v_2
