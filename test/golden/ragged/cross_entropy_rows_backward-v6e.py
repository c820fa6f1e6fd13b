"""cross_entropy_rows_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def cross_entropy_rows_backward_kernel(logits_ref, labels_ref, grad_ref, out_ref):
    values = logits_ref[...]  # cross_entropy.py:42
    v = jnp.broadcast_to(jnp.max(values, axis=1).reshape((32, 1)), (32, 333))  # cross_entropy.py:43
    v_2 = jnp.exp(values - v)  # cross_entropy.py:43
    v_3 = jnp.broadcast_to(jnp.sum(v_2, axis=1).reshape((32, 1)), (32, 333))  # cross_entropy.py:43
    shares = v_2 / v_3  # cross_entropy.py:43
    labels = labels_ref[0, :]  # cross_entropy.py:44
    hit = (  # cross_entropy.py:44
        jax.lax.broadcasted_iota(jnp.int32, (32, 333), 1) == jnp.broadcast_to(labels.reshape((32, 1)), (32, 333))
    )
    grad = grad_ref[0, :]  # cross_entropy.py:45
    out_ref[...] = (  # cross_entropy.py:45
        jnp.broadcast_to(grad.reshape((32, 1)), (32, 333)) * (shares - hit.astype(jnp.int32).astype(jnp.float32))
    )


def cross_entropy_rows_backward(grad, logits, labels):
    labels_2 = jnp.pad(labels, [(0, 21)]).reshape((3, 1, 32))  # cross_entropy.py:41
    grad_2 = jnp.pad(grad, [(0, 21)]).reshape((3, 1, 32))  # cross_entropy.py:41
    out = pl.pallas_call(  # cross_entropy.py:41
        cross_entropy_rows_backward_kernel,
        grid=(3,),
        in_specs=[
            pl.BlockSpec((32, 333), lambda rows: (rows, 0)),
            pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)),
            pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)),
        ],
        out_specs=pl.BlockSpec((32, 333), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="cross_entropy_rows_backward",
    )(logits, labels_2, grad_2)
    return out
