"""swiglu_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_matmul_kernel(x_ref, gate_ref, up_ref, out_ref):
    opened = jnp.full((1024, 512), 0.0, jnp.float32)  # gated.py:70
    rows = x_ref[...]  # gated.py:73
    gate = gate_ref[...]  # gated.py:74
    opened_2 = opened + jnp.dot(rows, gate, preferred_element_type=jnp.float32)  # gated.py:74
    up = up_ref[...]  # gated.py:75
    lifted = opened + jnp.dot(rows, up, preferred_element_type=jnp.float32)  # gated.py:75
    out_ref[...] = (opened_2 * jax.nn.sigmoid(opened_2) * lifted).astype(jnp.bfloat16)  # gated.py:76


def swiglu_matmul(x, gate, up):
    out = pl.pallas_call(  # gated.py:69
        swiglu_matmul_kernel,
        grid=(4, 8),
        in_specs=[
            pl.BlockSpec((1024, 4096), lambda tile_m, tile_n: (tile_m, 0)),
            pl.BlockSpec((4096, 512), lambda tile_m, tile_n: (0, tile_n)),
            pl.BlockSpec((4096, 512), lambda tile_m, tile_n: (0, tile_n)),
        ],
        out_specs=pl.BlockSpec((1024, 512), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=134217728),
        name="swiglu_matmul",
    )(x, gate, up)
    return out
