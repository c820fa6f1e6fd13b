"""causal_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def causal_attention_kernel(q_ref, k_ref, v_ref, out_ref):
    queries = q_ref[...]  # attention.py:44
    largest = jnp.full((1, 1024, 1), -jnp.inf, jnp.float32)  # attention.py:45
    total = jnp.full((1, 1024, 1), 0.0, jnp.float32)  # attention.py:46
    acc = jnp.full((1, 1024, 128), 0.0, jnp.float32)  # attention.py:47

    def tile_n_body(tile_n, carry):  # attention.py:48
        acc_2, largest_2, total_2 = carry
        tile_n_begin = tile_n * 512  # attention.py:48
        k = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # attention.py:49
        v_2 = jax.lax.dot_general(  # attention.py:49
            queries, jnp.transpose(k, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores = v_2 * 0.12751743  # attention.py:49
        v_3 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (1, 1024, 512), 2)  # attention.py:51
        v_4 = jax.lax.broadcasted_iota(jnp.int32, (1, 1024, 512), 1) >= v_3  # attention.py:51
        scores_2 = jnp.where(v_4, scores, -jnp.inf)  # attention.py:51
        grown = jnp.maximum(largest_2, jnp.max(scores_2, axis=2).reshape((1, 1024, 1)))  # attention.py:52
        shrink = jnp.exp2(largest_2 - grown)  # attention.py:53
        weights = jnp.exp2(scores_2 - jnp.broadcast_to(grown, (1, 1024, 512)))  # attention.py:54
        total_3 = total_2 * shrink + jnp.sum(weights, axis=2).reshape((1, 1024, 1))  # attention.py:55
        v_5 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # attention.py:56
        acc_3 = acc_2 * jnp.broadcast_to(shrink, (1, 1024, 128)) + jax.lax.dot_general(  # attention.py:56
            weights.astype(jnp.bfloat16), v_5, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        return (acc_3, grown, total_3)

    acc_4, largest_3, total_4 = jax.lax.fori_loop(0, 2, tile_n_body, (acc, largest, total), unroll=2)  # attention.py:48
    out_ref[...] = (acc_4 / jnp.broadcast_to(total_4, (1, 1024, 128))).astype(jnp.bfloat16)  # attention.py:58


def causal_attention(q, k, v):
    q_2 = q.reshape((64, 1024, 128))  # attention.py:40
    k_2 = k.reshape((64, 1024, 128))  # attention.py:40
    v_2 = v.reshape((64, 1024, 128))  # attention.py:40
    out = pl.pallas_call(  # attention.py:43
        causal_attention_kernel,
        grid=(64, 1),
        in_specs=[
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 1024, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((64, 1024, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="causal_attention",
    )(q_2, k_2, v_2)
    v_3 = out.reshape((4, 16, 1024, 128))  # attention.py:59
    return v_3
