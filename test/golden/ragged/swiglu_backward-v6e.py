"""swiglu_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_backward_kernel(grads_ref, gates_ref, ups_ref, to_up_ref, to_gate_ref):
    arriving = grads_ref[...]  # gated.py:39
    opened = gates_ref[...]  # gated.py:39
    share = jax.nn.sigmoid(opened)  # gated.py:40
    to_up_ref[...] = arriving * opened * share  # gated.py:41
    slope = share * (1.0 + opened * (1.0 - share))  # gated.py:42
    ups = ups_ref[...]  # gated.py:43
    to_gate_ref[...] = arriving * ups * slope  # gated.py:43


def swiglu_backward(grad, gate, up):
    grads = grad.reshape((24975,))  # gated.py:36
    gates = gate.reshape((24975,))  # gated.py:36
    ups = up.reshape((24975,))  # gated.py:36
    to_up, to_gate = pl.pallas_call(  # gated.py:38
        swiglu_backward_kernel,
        grid=(13,),
        in_specs=[
            pl.BlockSpec((2048,), lambda tile: (tile,)),
            pl.BlockSpec((2048,), lambda tile: (tile,)),
            pl.BlockSpec((2048,), lambda tile: (tile,)),
        ],
        out_specs=[pl.BlockSpec((2048,), lambda tile: (tile,)), pl.BlockSpec((2048,), lambda tile: (tile,))],
        out_shape=[jax.ShapeDtypeStruct((24975,), jnp.float32), jax.ShapeDtypeStruct((24975,), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="swiglu_backward",
    )(grads, gates, ups)
    grad_up = to_up.reshape((75, 333))  # gated.py:38
    grad_gate = to_gate.reshape((75, 333))  # gated.py:38
    return grad_gate, grad_up
