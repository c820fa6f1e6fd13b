"""flex_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def flex_attention_kernel(q_ref, k_ref, v_ref, out_ref, sums_ref):
    queries = q_ref[...]  # flex_attention.py:22
    top = jnp.full((2048, 1), -1.442695e+30, jnp.float32)  # flex_attention.py:23
    total = jnp.full((2048, 1), 0.0, jnp.float32)  # flex_attention.py:24
    acc = jnp.full((2048, 128), 0.0, jnp.float32)  # flex_attention.py:25

    def tile_n_body(tile_n, carry):  # flex_attention.py:26
        acc_2, top_2, total_2 = carry
        tile_n_begin = tile_n * 512  # flex_attention.py:26
        k = k_ref[pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # flex_attention.py:28
        scores = jnp.dot(queries, k.T, preferred_element_type=jnp.float32) * 0.088388346  # flex_attention.py:28
        scores_2 = 2.88539 * jnp.tanh(scores / 2.0)  # flex_attention.py:48
        v = jax.lax.broadcasted_iota(jnp.int32, (2048, 512), 0)  # flex_attention.py:62
        v_2 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (2048, 512), 1)  # flex_attention.py:62
        v_3 = (v >= v_2) & (v - v_2 < 17)  # flex_attention.py:62
        scores_3 = jnp.where(v_3, scores_2, -jnp.inf)  # flex_attention.py:30
        higher = jnp.maximum(top_2, jnp.max(scores_3, axis=1).reshape((2048, 1)))  # flex_attention.py:31
        weights = jnp.exp2(scores_3 - jnp.broadcast_to(higher, (2048, 512)))  # flex_attention.py:32
        fade = jnp.exp2(top_2 - higher)  # flex_attention.py:33
        total_3 = total_2 * fade + jnp.sum(weights, axis=1).reshape((2048, 1))  # flex_attention.py:34
        v_4 = v_ref[pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # flex_attention.py:35
        acc_3 = acc_2 * jnp.broadcast_to(fade, (2048, 128)) + jnp.dot(  # flex_attention.py:35
            weights.astype(jnp.bfloat16), v_4, preferred_element_type=jnp.float32
        )
        return (acc_3, higher, total_3)

    acc_4, top_3, total_4 = jax.lax.fori_loop(0, 4, tile_n_body, (acc, top, total), unroll=4)  # flex_attention.py:26
    out_ref[...] = (acc_4 / jnp.broadcast_to(total_4, (2048, 128))).astype(jnp.bfloat16)  # flex_attention.py:37
    sums_ref[0, :] = ((top_3 + jnp.log(total_4) * 1.442695) * 0.6931472).reshape((2048,))  # flex_attention.py:38


def flex_attention(q, k, v):
    out, sums = pl.pallas_call(  # flex_attention.py:20
        flex_attention_kernel,
        grid=(2, 32, 1),
        in_specs=[
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, tile_m, 0)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h // 4, 0, 0)),
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h // 4, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((None, None, 2048, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, tile_m, 0)),
            pl.BlockSpec((None, None, 1, 2048), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, 0, tile_m)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((2, 32, 2048, 128), jnp.bfloat16),
            jax.ShapeDtypeStruct((2, 32, 1, 2048), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "parallel"), vmem_limit_bytes=58753024
        ),
        name="flex_attention",
    )(q, k, v)
    sums_2 = sums.reshape((2, 32, 2048))  # flex_attention.py:20
    return out, sums_2
