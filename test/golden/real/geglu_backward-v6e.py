"""geglu_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def geglu_backward_kernel(grads_ref, gates_ref, ups_ref, to_up_ref, to_gate_ref):
    grads = grads_ref[...]  # gated.py:54
    arriving = grads.astype(jnp.float32)  # gated.py:54
    gates = gates_ref[...]  # gated.py:54
    opened = gates.astype(jnp.float32)  # gated.py:54
    square = opened * opened  # gated.py:55
    bend = jnp.tanh(0.7978846 * opened * (1.0 + 0.044715 * square))  # gated.py:56
    v = 1.0 + bend  # gated.py:57
    to_up_ref[...] = (arriving * 0.5 * opened * v).astype(jnp.bfloat16)  # gated.py:57
    v_2 = opened * (1.0 - bend * bend) * 0.7978846 * (1.0 + 0.134145 * square)  # gated.py:58
    slope = v + v_2  # gated.py:58
    ups = ups_ref[...]  # gated.py:59
    to_gate_ref[...] = (arriving * ups.astype(jnp.float32) * 0.5 * slope).astype(jnp.bfloat16)  # gated.py:59


def geglu_backward(grad, gate, up):
    to_up, to_gate = pl.pallas_call(  # gated.py:53
        geglu_backward_kernel,
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
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=84541440),
        name="geglu_backward",
    )(grad, gate, up)
    return to_gate, to_up
