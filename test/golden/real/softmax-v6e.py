"""softmax: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def softmax_kernel(x_ref, out_ref):
    x = x_ref[...]  # softmax.py:14
    v = x.astype(jnp.float32)  # softmax.py:14
    v_2 = jnp.broadcast_to(jnp.max(v, axis=1).reshape((512, 1)), (512, 2560))  # softmax.py:14
    v_3 = jnp.exp(v - v_2)  # softmax.py:14
    v_4 = jnp.broadcast_to(jnp.sum(v_3, axis=1).reshape((512, 1)), (512, 2560))  # softmax.py:14
    out_ref[...] = (v_3 / v_4).astype(jnp.bfloat16)  # softmax.py:14


def softmax(x):
    out = pl.pallas_call(  # softmax.py:13
        softmax_kernel,
        grid=(8,),
        in_specs=[pl.BlockSpec((512, 2560), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=52428800),
        name="softmax",
    )(x)
    return out
