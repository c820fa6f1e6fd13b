"""exp_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def exp_backward_kernel(grad_ref, y_ref, out_ref):
    grad = grad_ref[...]  # exp.py:21
    y = y_ref[...]  # exp.py:21
    out_ref[...] = grad * y  # exp.py:21


def exp_backward(grad, y):
    out = pl.pallas_call(  # exp.py:20
        exp_backward_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="exp_backward",
    )(grad, y)
    return out
