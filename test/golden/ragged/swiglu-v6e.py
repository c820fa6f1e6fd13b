"""swiglu: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_kernel(gate_ref, up_ref, out_ref):
    opened = gate_ref[...]  # gated.py:18
    up = up_ref[...]  # gated.py:19
    out_ref[...] = opened * jax.nn.sigmoid(opened) * up  # gated.py:19


def swiglu(gate, up):
    out = pl.pallas_call(  # gated.py:17
        swiglu_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
            pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="swiglu",
    )(gate, up)
    return out
