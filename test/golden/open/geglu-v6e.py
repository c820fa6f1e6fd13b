"""geglu: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def geglu_kernel(gate_ref, up_ref, out_ref):
    gate = gate_ref[...]  # gated.py:27
    v = gate.astype(jnp.float32)  # gated.py:27
    opened = v * 0.5 * (jnp.tanh((v + v * v * v * 0.044715) * 0.7978846) + 1.0)  # gated.py:27
    up = up_ref[...]  # gated.py:28
    out_ref[...] = opened.astype(jnp.bfloat16) * up  # gated.py:28


def geglu(gate, up):
    gate_size_0 = gate.shape[0]
    out = pl.pallas_call(  # gated.py:26
        geglu_kernel,
        grid=(pl.cdiv(gate_size_0, 2048), 5),
        in_specs=[
            pl.BlockSpec((2048, 512), lambda tile, i: (tile, i)),
            pl.BlockSpec((2048, 512), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((2048, 512), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((gate_size_0, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=58720256),
        name="geglu",
    )(gate, up)
    return out
