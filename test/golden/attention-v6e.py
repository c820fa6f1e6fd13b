"""attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def attention_kernel(q_ref, k_ref, v_ref, out_ref):
    queries = q_ref[...]  # attention.py:20
    v = k_ref[...]  # attention.py:25
    v_2 = jnp.transpose(v, (0, 2, 1))  # attention.py:25
    v_3 = jax.lax.dot_general(queries, v_2, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32)  # attention.py:25
    scores = v_3 * 0.0883883461356163  # attention.py:25
    v_4 = jnp.max(scores, axis=2)  # attention.py:26
    grown = jnp.maximum((-jnp.inf), v_4)  # attention.py:26
    v_5 = (-jnp.inf) - grown  # attention.py:27
    shrink = jnp.exp(v_5)  # attention.py:27
    v_6 = grown.reshape((1, 1024, 1))  # attention.py:28
    v_7 = jnp.broadcast_to(v_6, (1, 1024, 1024))  # attention.py:28
    v_8 = scores - v_7  # attention.py:28
    weights = jnp.exp(v_8)  # attention.py:28
    v_9 = 0.0 * shrink  # attention.py:29
    v_10 = jnp.sum(weights, axis=2)  # attention.py:29
    total = v_9 + v_10  # attention.py:29
    v_11 = shrink.reshape((1, 1024, 1))  # attention.py:30
    v_12 = jnp.broadcast_to(v_11, (1, 1024, 128))  # attention.py:30
    v_13 = 0.0 * v_12  # attention.py:30
    v_14 = weights.astype(jnp.bfloat16)  # attention.py:30
    v_15 = v_ref[...]  # attention.py:30
    acc = v_13 + jax.lax.dot_general(v_14, v_15, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32)  # attention.py:30
    v_16 = total.reshape((1, 1024, 1))  # attention.py:32
    v_17 = jnp.broadcast_to(v_16, (1, 1024, 128))  # attention.py:32
    v_18 = acc / v_17  # attention.py:32
    v_19 = v_18.astype(jnp.bfloat16)  # attention.py:32
    out_ref[...] = v_19  # attention.py:32


def attention(q, k, v):
    q_2 = q.reshape((64, 1024, 128))  # attention.py:16
    k_2 = k.reshape((64, 1024, 128))  # attention.py:16
    v_2 = v.reshape((64, 1024, 128))  # attention.py:16
    out = pl.pallas_call(  # attention.py:19
        attention_kernel,
        grid=(64, 1),
        in_specs=[
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((64, 1024, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="attention",
    )(q_2, k_2, v_2)
    v_3 = out.reshape((4, 16, 1024, 128))  # attention.py:33
    return v_3
