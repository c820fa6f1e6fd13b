"""geglu: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def geglu_kernel(gate_ref, up_ref, out_ref):
    v = gate_ref[...]  # gated.py:27
    v_2 = v.astype(jnp.float32)  # gated.py:27
    v_3 = v_2 * v_2  # gated.py:27
    v_4 = v_3 * v_2  # gated.py:27
    v_5 = v_4 * 0.044714998453855515  # gated.py:27
    v_6 = v_2 + v_5  # gated.py:27
    v_7 = v_6 * 0.7978845834732056  # gated.py:27
    v_8 = v_2 * 0.5  # gated.py:27
    v_9 = jnp.tanh(v_7)  # gated.py:27
    v_10 = v_9 + 1.0  # gated.py:27
    opened = v_8 * v_10  # gated.py:27
    v_11 = opened.astype(jnp.bfloat16)  # gated.py:28
    v_12 = up_ref[...]  # gated.py:28
    v_13 = v_11.astype(jnp.float32)  # gated.py:28
    v_14 = v_12.astype(jnp.float32)  # gated.py:28
    v_15 = v_13 * v_14  # gated.py:28
    v_16 = v_15.astype(jnp.bfloat16)  # gated.py:28
    out_ref[...] = v_16  # gated.py:28


def geglu(gate, up):
    out = pl.pallas_call(  # gated.py:26
        geglu_kernel,
        grid=(16, 1),
        in_specs=[
            pl.BlockSpec((256, 2560), lambda tile, i: (tile, i)),
            pl.BlockSpec((256, 2560), lambda tile, i: (tile, i)),
        ],
        out_specs=pl.BlockSpec((256, 2560), lambda tile, i: (tile, i)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=36700160),
        name="geglu",
    )(gate, up)
    return out
