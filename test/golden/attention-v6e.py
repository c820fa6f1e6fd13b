"""attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def attention_kernel(q_ref, k_ref, v_ref, out_ref):
    queries = q_ref[...]  # attention.py:20
    k = k_ref[...]  # attention.py:25
    v = jax.lax.dot_general(  # attention.py:25
        queries, jnp.transpose(k, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
    )
    scores = v * 0.088388346  # attention.py:25
    grown = jnp.maximum(-jnp.inf, jnp.max(scores, axis=2))  # attention.py:26
    shrink = jnp.exp(-jnp.inf - grown)  # attention.py:27
    v_2 = jnp.broadcast_to(grown.reshape((1, 1024, 1)), (1, 1024, 1024))  # attention.py:28
    weights = jnp.exp(scores - v_2)  # attention.py:28
    total = 0.0 * shrink + jnp.sum(weights, axis=2)  # attention.py:29
    v_3 = jnp.broadcast_to(shrink.reshape((1, 1024, 1)), (1, 1024, 128))  # attention.py:30
    v_4 = v_ref[...]  # attention.py:30
    acc = 0.0 * v_3 + jax.lax.dot_general(  # attention.py:30
        weights.astype(jnp.bfloat16), v_4, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
    )
    v_5 = jnp.broadcast_to(total.reshape((1, 1024, 1)), (1, 1024, 128))  # attention.py:32
    out_ref[...] = (acc / v_5).astype(jnp.bfloat16)  # attention.py:32


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
