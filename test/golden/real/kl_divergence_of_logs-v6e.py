"""kl_divergence: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def kl_divergence_kernel(target_ref, predicted_ref, losses_ref):
    total = jnp.full((128, 1), 0.0, jnp.float32)  # divergence.py:14

    def cols_body(cols, total_2):  # divergence.py:15
        cols_begin = cols * 6400  # divergence.py:15
        target = target_ref[:, pl.ds(pl.multiple_of(cols_begin, 6400), 6400)]  # divergence.py:16
        wanted = target.astype(jnp.float32)  # divergence.py:16
        share = jnp.exp(wanted)  # divergence.py:18
        predicted = predicted_ref[:, pl.ds(pl.multiple_of(cols_begin, 6400), 6400)]  # divergence.py:21
        v = jnp.sum(share * (wanted - predicted.astype(jnp.float32)), axis=1)  # divergence.py:21
        total_3 = total_2 + v.reshape((128, 1))  # divergence.py:21
        return total_3

    total_4 = jax.lax.fori_loop(0, 5, cols_body, total, unroll=5)  # divergence.py:15
    total_5 = total_4.reshape((128,))  # divergence.py:15
    losses_ref[...] = total_5  # divergence.py:22


def kl_divergence(predicted, target):
    losses = pl.pallas_call(  # divergence.py:13
        kl_divergence_kernel,
        grid=(16,),
        in_specs=[
            pl.BlockSpec((128, 32000), lambda rows: (rows, 0)),
            pl.BlockSpec((128, 32000), lambda rows: (rows, 0)),
        ],
        out_specs=pl.BlockSpec((128,), lambda rows: (rows,)),
        out_shape=jax.ShapeDtypeStruct((2048,), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=98306048),
        name="kl_divergence",
    )(target, predicted)
    v = jnp.sum(losses, dtype=jnp.float32)  # divergence.py:23
    v_2 = (v / 2048).astype(jnp.float32)  # divergence.py:23
    return v_2
