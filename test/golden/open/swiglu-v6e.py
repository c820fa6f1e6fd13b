"""swiglu: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_kernel(gate_ref, up_ref, out_ref):
    gate = gate_ref[...]  # gated.py:18
    opened = gate.astype(jnp.float32)  # gated.py:18
    up = up_ref[...]  # gated.py:19
    out_ref[...] = (opened * jax.nn.sigmoid(opened)).astype(jnp.bfloat16) * up  # gated.py:19


def swiglu(gate, up):
    gate_size_0 = gate.shape[0]
    out = pl.pallas_call(  # gated.py:17
        swiglu_kernel,
        grid=(pl.cdiv(gate_size_0, 4096), 5),
        in_specs=[
            pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
            pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((4096, 512), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((gate_size_0, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100663296),
        name="swiglu",
    )(gate, up)
    return out
