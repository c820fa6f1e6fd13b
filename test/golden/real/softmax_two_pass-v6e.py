"""softmax_two_pass: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def softmax_two_pass_kernel(x_ref, out_ref):
    largest = jnp.full((512, 1), -jnp.inf, jnp.float32)  # softmax.py:37
    total = jnp.full((512, 1), 0.0, jnp.float32)  # softmax.py:38

    def cols_body(cols, carry):  # softmax.py:39
        largest_2, total_2 = carry
        cols_begin = cols * 1280  # softmax.py:39
        x = x_ref[:, pl.ds(pl.multiple_of(cols_begin, 1280), 1280)]  # softmax.py:40
        values = x.astype(jnp.float32)  # softmax.py:40
        grown = jnp.maximum(largest_2, jnp.max(values, axis=1).reshape((512, 1)))  # softmax.py:41
        v = jnp.sum(jnp.exp(values - jnp.broadcast_to(grown, (512, 1280))), axis=1)  # softmax.py:42
        total_3 = total_2 * jnp.exp(largest_2 - grown) + v.reshape((512, 1))  # softmax.py:42
        return (grown, total_3)

    largest_3, total_4 = jax.lax.fori_loop(0, 2, cols_body, (largest, total), unroll=2)  # softmax.py:39

    def cols_body_2(cols_2, _):  # softmax.py:44
        cols_begin_2 = cols_2 * 1280  # softmax.py:44
        x_2 = x_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 1280), 1280)]  # softmax.py:45
        values_2 = x_2.astype(jnp.float32)  # softmax.py:45
        v_2 = (  # softmax.py:46
            jnp.exp(values_2 - jnp.broadcast_to(largest_3, (512, 1280))) / jnp.broadcast_to(total_4, (512, 1280))
        )
        out_ref[:, pl.ds(pl.multiple_of(cols_begin_2, 1280), 1280)] = v_2.astype(jnp.bfloat16)  # softmax.py:46
        return None

    jax.lax.fori_loop(0, 2, cols_body_2, None, unroll=2)  # softmax.py:44


def softmax_two_pass(x):
    out = pl.pallas_call(  # softmax.py:36
        softmax_two_pass_kernel,
        grid=(8,),
        in_specs=[pl.BlockSpec((512, 2560), lambda rows: (rows, 0))],
        out_specs=pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=42991616),
        name="softmax_two_pass",
    )(x)
    return out
