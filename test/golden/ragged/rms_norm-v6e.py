"""rms_norm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rms_norm_kernel(x_ref, weight_ref, out_ref, inverse_ref):
    values = x_ref[...]  # rms_norm.py:15
    rstd = jax.lax.rsqrt(jnp.sum(values * values, axis=1) / 333.0 + 1e-05)  # rms_norm.py:16
    weight = weight_ref[...]  # rms_norm.py:17
    out_ref[...] = (  # rms_norm.py:17
        values
        * jnp.broadcast_to(rstd.reshape((32, 1)), (32, 333))
        * jnp.broadcast_to(weight.reshape((1, 333)), (32, 333))
    )
    inverse_ref[0, :] = rstd  # rms_norm.py:18


def rms_norm(x, weight):
    out, inverse = pl.pallas_call(  # rms_norm.py:14
        rms_norm_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((32, 333), lambda rows: (rows, 0)), pl.BlockSpec((333,), lambda rows: (0,))],
        out_specs=[
            pl.BlockSpec((32, 333), lambda rows: (rows, 0)),
            pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)),
        ],
        out_shape=[jax.ShapeDtypeStruct((75, 333), jnp.float32), jax.ShapeDtypeStruct((3, 1, 32), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="rms_norm",
    )(x, weight)
    inverse_2 = inverse.reshape((96,))[:75]  # rms_norm.py:14
    return out, inverse_2
