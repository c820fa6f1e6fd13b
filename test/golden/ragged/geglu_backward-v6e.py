"""geglu_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def geglu_backward_kernel(grads_ref, gates_ref, ups_ref, to_up_ref, to_gate_ref):
    arriving = grads_ref[...]  # gated.py:54
    opened = gates_ref[...]  # gated.py:54
    square = opened * opened  # gated.py:55
    bend = jnp.tanh(0.7978846 * opened * (1.0 + 0.044715 * square))  # gated.py:56
    v = 1.0 + bend  # gated.py:57
    to_up_ref[...] = arriving * 0.5 * opened * v  # gated.py:57
    v_2 = opened * (1.0 - bend * bend) * 0.7978846 * (1.0 + 0.134145 * square)  # gated.py:58
    slope = v + v_2  # gated.py:58
    ups = ups_ref[...]  # gated.py:59
    to_gate_ref[...] = arriving * ups * 0.5 * slope  # gated.py:59


def geglu_backward(grad, gate, up):
    grads = grad.reshape((24975,))  # gated.py:51
    gates = gate.reshape((24975,))  # gated.py:51
    ups = up.reshape((24975,))  # gated.py:51
    to_up, to_gate = pl.pallas_call(  # gated.py:53
        geglu_backward_kernel,
        grid=(13,),
        in_specs=[
            pl.BlockSpec((2048,), lambda tile: (tile,)),
            pl.BlockSpec((2048,), lambda tile: (tile,)),
            pl.BlockSpec((2048,), lambda tile: (tile,)),
        ],
        out_specs=[pl.BlockSpec((2048,), lambda tile: (tile,)), pl.BlockSpec((2048,), lambda tile: (tile,))],
        out_shape=[jax.ShapeDtypeStruct((24975,), jnp.float32), jax.ShapeDtypeStruct((24975,), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="geglu_backward",
    )(grads, gates, ups)
    grad_up = to_up.reshape((75, 333))  # gated.py:53
    grad_gate = to_gate.reshape((75, 333))  # gated.py:53
    return grad_gate, grad_up
