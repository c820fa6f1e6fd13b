"""squeeze_excite_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def squeeze_excite_backward_0_kernel(gate_ref, grad_ref, x_ref, to_gate_ref):
    gate = gate_ref[...]  # squeeze_excite.py:35
    opened = gate.astype(jnp.float32)  # squeeze_excite.py:35
    grad = grad_ref[...]  # squeeze_excite.py:35
    arriving = grad.astype(jnp.float32)  # squeeze_excite.py:35
    x = x_ref[...]  # squeeze_excite.py:36
    to_gate_ref[...] = (  # squeeze_excite.py:36
        arriving * x.astype(jnp.float32) * opened * (1.0 - opened)
    ).astype(jnp.bfloat16)


def squeeze_excite_backward_1_kernel(to_gate_ref, excite_ref, hidden_ref, array_ref):
    acc = jnp.full((512, 256), 0.0, jnp.float32)  # squeeze_excite.py:39
    to_gate = to_gate_ref[...]  # squeeze_excite.py:41
    excite = excite_ref[...]  # squeeze_excite.py:41
    acc_2 = acc + jnp.dot(to_gate, excite.T, preferred_element_type=jnp.float32)  # squeeze_excite.py:41
    hidden = hidden_ref[...]  # squeeze_excite.py:42
    array_ref[...] = jnp.where(  # squeeze_excite.py:42
        hidden.astype(jnp.float32) > 0.0, acc_2, 0.0
    ).astype(jnp.bfloat16)


def squeeze_excite_backward_2_kernel(hidden_ref, to_gate_ref, array_ref):
    acc = jnp.full((256, 512), 0.0, jnp.float32)  # squeeze_excite.py:44
    hidden = hidden_ref[...]  # squeeze_excite.py:46
    to_gate = to_gate_ref[...]  # squeeze_excite.py:46
    acc_2 = acc + jnp.dot(hidden.T, to_gate, preferred_element_type=jnp.float32)  # squeeze_excite.py:46
    array_ref[...] = acc_2.astype(jnp.bfloat16)  # squeeze_excite.py:47


def squeeze_excite_backward_3_kernel(grad_ref, gate_ref, array_ref, squeeze_ref, grad_x_ref):
    grad = grad_ref[...]  # squeeze_excite.py:50
    gate = gate_ref[...]  # squeeze_excite.py:50
    acc = grad.astype(jnp.float32) * gate.astype(jnp.float32)  # squeeze_excite.py:50
    array = array_ref[...]  # squeeze_excite.py:52
    squeeze = squeeze_ref[...]  # squeeze_excite.py:52
    acc_2 = acc + jnp.dot(array, squeeze.T, preferred_element_type=jnp.float32)  # squeeze_excite.py:52
    grad_x_ref[...] = acc_2.astype(jnp.bfloat16)  # squeeze_excite.py:53


def squeeze_excite_backward_4_kernel(x_ref, array_ref, array_ref_2):
    acc = jnp.full((512, 256), 0.0, jnp.float32)  # squeeze_excite.py:55
    x = x_ref[...]  # squeeze_excite.py:57
    array = array_ref[...]  # squeeze_excite.py:57
    acc_2 = acc + jnp.dot(x.T, array, preferred_element_type=jnp.float32)  # squeeze_excite.py:57
    array_ref_2[...] = acc_2.astype(jnp.bfloat16)  # squeeze_excite.py:58


def squeeze_excite_backward(grad, x, squeeze, excite, hidden, gate):
    to_gate = pl.pallas_call(  # squeeze_excite.py:34
        squeeze_excite_backward_0_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((512, 1024), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((512, 1024), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((512, 1024), lambda rows, cols: (rows, cols)),
        ],
        out_specs=pl.BlockSpec((512, 1024), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_0",
    )(gate, grad, x)
    v = pl.pallas_call(  # squeeze_excite.py:38
        squeeze_excite_backward_1_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((512, 1024), lambda rows, inner: (rows, 0)),
            pl.BlockSpec((256, 1024), lambda rows, inner: (inner, 0)),
            pl.BlockSpec((512, 256), lambda rows, inner: (rows, inner)),
        ],
        out_specs=pl.BlockSpec((512, 256), lambda rows, inner: (rows, inner)),
        out_shape=jax.ShapeDtypeStruct((1024, 256), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_1",
    )(to_gate, excite, hidden)
    v_2 = pl.pallas_call(  # squeeze_excite.py:43
        squeeze_excite_backward_2_kernel,
        grid=(1, 2),
        in_specs=[
            pl.BlockSpec((1024, 256), lambda inner, cols: (0, inner)),
            pl.BlockSpec((1024, 512), lambda inner, cols: (0, cols)),
        ],
        out_specs=pl.BlockSpec((256, 512), lambda inner, cols: (inner, cols)),
        out_shape=jax.ShapeDtypeStruct((256, 1024), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_2",
    )(hidden, to_gate)
    grad_x = pl.pallas_call(  # squeeze_excite.py:49
        squeeze_excite_backward_3_kernel,
        grid=(1, 2),
        in_specs=[
            pl.BlockSpec((1024, 512), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((1024, 512), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((1024, 256), lambda rows, cols: (rows, 0)),
            pl.BlockSpec((512, 256), lambda rows, cols: (cols, 0)),
        ],
        out_specs=pl.BlockSpec((1024, 512), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((1024, 1024), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_3",
    )(grad, gate, v, squeeze)
    v_3 = pl.pallas_call(  # squeeze_excite.py:54
        squeeze_excite_backward_4_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((1024, 512), lambda cols, inner: (0, cols)),
            pl.BlockSpec((1024, 256), lambda cols, inner: (0, inner)),
        ],
        out_specs=pl.BlockSpec((512, 256), lambda cols, inner: (cols, inner)),
        out_shape=jax.ShapeDtypeStruct((1024, 256), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_4",
    )(x, v)
    return grad_x, v_3, v_2
