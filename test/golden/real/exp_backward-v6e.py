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
        grid=(1, 5),
        in_specs=[
            pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
            pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100663296),
        name="exp_backward",
    )(grad, y)
    return out
