"""softmax_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def softmax_backward_kernel(grad_ref, y_ref, out_ref):
    rows = pl.program_id(0)
    grad = grad_ref[...]  # softmax.py:57
    y = y_ref[...]  # softmax.py:57
    v = jnp.sum(grad.astype(jnp.float32) * y.astype(jnp.float32), axis=1)  # softmax.py:57
    shared = 0.0 + v  # softmax.py:57

    def cols_body(out_block):  # softmax.py:58
        cols = pl.program_id(0)
        cols_begin = cols * 1280  # softmax.py:58
        grad_2 = grad_ref[:, pl.ds(pl.multiple_of(cols_begin, 1280), 1280)]  # softmax.py:59
        v_2 = grad_2.astype(jnp.float32) - jnp.broadcast_to(shared.reshape((256, 1)), (256, 1280))  # softmax.py:59
        y_2 = y_ref[:, pl.ds(pl.multiple_of(cols_begin, 1280), 1280)]  # softmax.py:59
        out_block[...] = (v_2 * y_2.astype(jnp.float32)).astype(jnp.bfloat16)  # softmax.py:59

    pltpu.emit_pipeline(  # softmax.py:58
        cols_body,
        grid=(2,),
        out_specs=[pl.BlockSpec((256, 1280), lambda cols: (rows, cols))],
    )(out_ref)


def softmax_backward(grad, y):
    out = pl.pallas_call(  # softmax.py:54
        softmax_backward_kernel,
        grid=(16,),
        in_specs=[pl.BlockSpec((256, 2560), lambda rows: (rows, 0)), pl.BlockSpec((256, 2560), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec(memory_space=pltpu.HBM),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="softmax_backward",
    )(grad, y)
    return out
