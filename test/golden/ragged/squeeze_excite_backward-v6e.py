"""squeeze_excite_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def squeeze_excite_backward_0_kernel(gate_ref, grad_ref, x_ref, to_gate_ref):
    opened = gate_ref[...]  # squeeze_excite.py:35
    arriving = grad_ref[...]  # squeeze_excite.py:35
    x = x_ref[...]  # squeeze_excite.py:36
    to_gate_ref[...] = arriving * x * opened * (1.0 - opened)  # squeeze_excite.py:36


def squeeze_excite_backward_1_kernel(to_gate_ref, excite_ref, hidden_ref, array_ref):
    acc = jnp.full((16, 128), 0.0, jnp.float32)  # squeeze_excite.py:39

    def cols_body(cols, acc_2):  # squeeze_excite.py:40
        cols_begin = cols * 128  # squeeze_excite.py:40
        to_gate = to_gate_ref[:, pl.ds(pl.multiple_of(cols_begin, 128), 128)]  # squeeze_excite.py:41
        excite = excite_ref[pl.ds(pl.multiple_of(cols_begin, 128), 128), :]  # squeeze_excite.py:41
        inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 150 - cols_begin  # squeeze_excite.py:41
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 150 - cols_begin  # squeeze_excite.py:41
        acc_3 = acc_2 + jnp.dot(  # squeeze_excite.py:41
            jnp.where(inside, to_gate, 0.0),
            jnp.where(inside_2, excite, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 2, cols_body, acc, unroll=2)  # squeeze_excite.py:40
    hidden = hidden_ref[...]  # squeeze_excite.py:42
    array_ref[...] = jnp.where(hidden > 0.0, acc_4, 0.0)  # squeeze_excite.py:42


def squeeze_excite_backward_2_kernel(hidden_ref, to_gate_ref, array_ref):
    acc = jnp.full((128, 128), 0.0, jnp.float32)  # squeeze_excite.py:44
    hidden = hidden_ref[...]  # squeeze_excite.py:46
    to_gate = to_gate_ref[...]  # squeeze_excite.py:46
    inside = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < 75  # squeeze_excite.py:46
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 75  # squeeze_excite.py:46
    acc_2 = acc + jnp.dot(  # squeeze_excite.py:46
        jnp.where(inside, hidden.T, 0.0),
        jnp.where(inside_2, to_gate, 0.0),
        precision=jax.lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )
    array_ref[...] = acc_2.T  # squeeze_excite.py:47


def squeeze_excite_backward_3_kernel(grad_ref, gate_ref, array_ref, squeeze_ref, grad_x_ref):
    grad = grad_ref[...]  # squeeze_excite.py:50
    gate = gate_ref[...]  # squeeze_excite.py:50
    acc = grad * gate  # squeeze_excite.py:50
    array = array_ref[...]  # squeeze_excite.py:52
    squeeze = squeeze_ref[...]  # squeeze_excite.py:52
    inside = jax.lax.broadcasted_iota(jnp.int32, (16, 128), 1) < 90  # squeeze_excite.py:52
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 90  # squeeze_excite.py:52
    acc_2 = acc + jnp.dot(  # squeeze_excite.py:52
        jnp.where(inside, array, 0.0),
        jnp.where(inside_2, squeeze.T, 0.0),
        precision=jax.lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )
    grad_x_ref[...] = acc_2  # squeeze_excite.py:53


def squeeze_excite_backward_4_kernel(x_ref, array_ref, array_ref_2):
    acc = jnp.full((128, 128), 0.0, jnp.float32)  # squeeze_excite.py:55
    x = x_ref[...]  # squeeze_excite.py:57
    array = array_ref[...]  # squeeze_excite.py:57
    inside = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < 75  # squeeze_excite.py:57
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 75  # squeeze_excite.py:57
    acc_2 = acc + jnp.dot(  # squeeze_excite.py:57
        jnp.where(inside, x.T, 0.0),
        jnp.where(inside_2, array, 0.0),
        precision=jax.lax.Precision.HIGHEST,
        preferred_element_type=jnp.float32,
    )
    array_ref_2[...] = acc_2  # squeeze_excite.py:58


def squeeze_excite_backward(grad, x, squeeze, excite, hidden, gate):
    to_gate = pl.pallas_call(  # squeeze_excite.py:34
        squeeze_excite_backward_0_kernel,
        grid=(5, 2),
        in_specs=[
            pl.BlockSpec((16, 128), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((16, 128), lambda rows, cols: (rows, cols)),
            pl.BlockSpec((16, 128), lambda rows, cols: (rows, cols)),
        ],
        out_specs=pl.BlockSpec((16, 128), lambda rows, cols: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((75, 150), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_0",
    )(gate, grad, x)
    excite_2 = jnp.transpose(excite, (1, 0))  # squeeze_excite.py:38
    v = pl.pallas_call(  # squeeze_excite.py:38
        squeeze_excite_backward_1_kernel,
        grid=(5, 1),
        in_specs=[
            pl.BlockSpec((16, 256), lambda rows, inner: (rows, 0)),
            pl.BlockSpec((256, 128), lambda rows, inner: (0, inner)),
            pl.BlockSpec((16, 128), lambda rows, inner: (rows, inner)),
        ],
        out_specs=pl.BlockSpec((16, 128), lambda rows, inner: (rows, inner)),
        out_shape=jax.ShapeDtypeStruct((75, 90), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_1",
    )(to_gate, excite_2, hidden)
    v_2 = pl.pallas_call(  # squeeze_excite.py:43
        squeeze_excite_backward_2_kernel,
        grid=(1, 2),
        in_specs=[
            pl.BlockSpec((128, 128), lambda inner, cols: (0, inner)),
            pl.BlockSpec((128, 128), lambda inner, cols: (0, cols)),
        ],
        out_specs=pl.BlockSpec((128, 128), lambda inner, cols: (cols, inner)),
        out_shape=jax.ShapeDtypeStruct((150, 90), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_2",
    )(hidden, to_gate)
    v_3 = jnp.transpose(v_2, (1, 0))  # squeeze_excite.py:43
    grad_x = pl.pallas_call(  # squeeze_excite.py:49
        squeeze_excite_backward_3_kernel,
        grid=(2, 5),
        in_specs=[
            pl.BlockSpec((16, 128), lambda cols, rows: (rows, cols)),
            pl.BlockSpec((16, 128), lambda cols, rows: (rows, cols)),
            pl.BlockSpec((16, 128), lambda cols, rows: (rows, 0)),
            pl.BlockSpec((128, 128), lambda cols, rows: (cols, 0)),
        ],
        out_specs=pl.BlockSpec((16, 128), lambda cols, rows: (rows, cols)),
        out_shape=jax.ShapeDtypeStruct((75, 150), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_3",
    )(grad, gate, v, squeeze)
    v_4 = pl.pallas_call(  # squeeze_excite.py:54
        squeeze_excite_backward_4_kernel,
        grid=(2, 1),
        in_specs=[
            pl.BlockSpec((128, 128), lambda cols, inner: (0, cols)),
            pl.BlockSpec((128, 128), lambda cols, inner: (0, inner)),
        ],
        out_specs=pl.BlockSpec((128, 128), lambda cols, inner: (cols, inner)),
        out_shape=jax.ShapeDtypeStruct((150, 90), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="squeeze_excite_backward_4",
    )(x, v)
    return grad_x, v_4, v_3
