"""layer_norm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def layer_norm_kernel(x_ref, weight_ref, out_ref):
    x = x_ref[...]  # layer_norm.py:14
    values = x.astype(jnp.float32)  # layer_norm.py:14
    v = jnp.broadcast_to(jnp.sum(values, axis=1).reshape((512, 1)) / 2560.0, (512, 2560))  # layer_norm.py:15
    centred = values - v  # layer_norm.py:15
    variance = jnp.sum(centred * centred, axis=1).reshape((512, 1)) / 2560.0  # layer_norm.py:16
    v_2 = jnp.broadcast_to(jax.lax.rsqrt(variance + 1e-05), (512, 2560))  # layer_norm.py:17
    weight = weight_ref[...]  # layer_norm.py:17
    result = centred * v_2 * jnp.broadcast_to(weight.astype(jnp.float32), (512, 2560))  # layer_norm.py:17
    out_ref[...] = result.astype(jnp.bfloat16)  # layer_norm.py:20


def layer_norm(x, weight):
    out = pl.pallas_call(  # layer_norm.py:13
        layer_norm_kernel,
        grid=(8,),
        in_specs=[pl.BlockSpec((512, 2560), lambda rows: (rows, 0)), pl.BlockSpec((2560,), lambda rows: (0,))],
        out_specs=pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=52963328),
        name="layer_norm",
    )(x, weight)
    return out
