"""swiglu_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_backward_kernel(grads_ref, gates_ref, ups_ref, to_up_ref, to_gate_ref):
    grads = grads_ref[...]  # gated.py:39
    arriving = grads.astype(jnp.float32)  # gated.py:39
    gates = gates_ref[...]  # gated.py:39
    opened = gates.astype(jnp.float32)  # gated.py:39
    share = jax.nn.sigmoid(opened)  # gated.py:40
    to_up_ref[...] = (arriving * opened * share).astype(jnp.bfloat16)  # gated.py:41
    slope = share * (1.0 + opened * (1.0 - share))  # gated.py:42
    ups = ups_ref[...]  # gated.py:43
    to_gate_ref[...] = (arriving * ups.astype(jnp.float32) * slope).astype(jnp.bfloat16)  # gated.py:43


def swiglu_backward(grad, gate, up):
    to_up, to_gate = pl.pallas_call(  # gated.py:38
        swiglu_backward_kernel,
        grid=(64,),
        in_specs=[
            pl.BlockSpec((64, 11008), lambda tile: (tile, 0)),
            pl.BlockSpec((64, 11008), lambda tile: (tile, 0)),
            pl.BlockSpec((64, 11008), lambda tile: (tile, 0)),
        ],
        out_specs=[
            pl.BlockSpec((64, 11008), lambda tile: (tile, 0)),
            pl.BlockSpec((64, 11008), lambda tile: (tile, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((4096, 11008), jnp.bfloat16),
            jax.ShapeDtypeStruct((4096, 11008), jnp.bfloat16),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=61997056),
        name="swiglu_backward",
    )(grad, gate, up)
    return to_gate, to_up
