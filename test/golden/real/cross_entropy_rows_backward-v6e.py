"""cross_entropy_rows_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def cross_entropy_rows_backward_kernel(logits_ref, labels_ref, grad_ref, out_ref):
    logits = logits_ref[...]  # cross_entropy.py:42
    values = logits.astype(jnp.float32)  # cross_entropy.py:42
    v = jnp.broadcast_to(jnp.max(values, axis=1).reshape((256, 1)), (256, 2560))  # cross_entropy.py:43
    v_2 = jnp.exp(values - v)  # cross_entropy.py:43
    v_3 = jnp.broadcast_to(jnp.sum(v_2, axis=1).reshape((256, 1)), (256, 2560))  # cross_entropy.py:43
    shares = v_2 / v_3  # cross_entropy.py:43
    labels = labels_ref[...]  # cross_entropy.py:44
    hit = (  # cross_entropy.py:44
        jax.lax.broadcasted_iota(jnp.int32, (256, 2560), 1) == jnp.broadcast_to(labels.reshape((256, 1)), (256, 2560))
    )
    grad = grad_ref[...]  # cross_entropy.py:45
    v_4 = (  # cross_entropy.py:45
        jnp.broadcast_to(grad.reshape((256, 1)), (256, 2560)) * (shares - hit.astype(jnp.int32).astype(jnp.float32))
    )
    out_ref[...] = v_4.astype(jnp.bfloat16)  # cross_entropy.py:45


def cross_entropy_rows_backward(grad, logits, labels):
    out = pl.pallas_call(  # cross_entropy.py:41
        cross_entropy_rows_backward_kernel,
        grid=(16,),
        in_specs=[
            pl.BlockSpec((256, 2560), lambda rows: (rows, 0)),
            pl.BlockSpec((256,), lambda rows: (rows,)),
            pl.BlockSpec((256,), lambda rows: (rows,)),
        ],
        out_specs=pl.BlockSpec((256, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="cross_entropy_rows_backward",
    )(logits, labels, grad)
    return out
