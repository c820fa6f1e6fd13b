"""flex_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def flex_attention_kernel(q_ref, k_ref, hidden_ref, v_ref, out_ref, sums_ref):
    tile_h = pl.program_id(1)
    tile_m = pl.program_id(2)
    tile_m_begin = tile_m * 128
    q = q_ref[...]  # flex_attention.py:22
    queries = q.T  # flex_attention.py:22
    top = jnp.full((128, 1), -1e+30, jnp.float32)  # flex_attention.py:23
    total = jnp.full((128, 1), 0.0, jnp.float32)  # flex_attention.py:24
    acc = jnp.full((128, 64), 0.0, jnp.float32)  # flex_attention.py:25

    def tile_n_body(tile_n, carry):  # flex_attention.py:26
        acc_2, top_2, total_2 = carry
        tile_n_begin = tile_n * 128  # flex_attention.py:26
        k = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # flex_attention.py:28
        v = jnp.dot(  # flex_attention.py:28
            queries, k, precision=jax.lax.Precision.HIGHEST, preferred_element_type=jnp.float32
        )
        scores = v * 0.125  # flex_attention.py:28
        hidden = hidden_ref[tile_h]  # flex_attention.py:53
        v_2 = tile_m_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0)  # flex_attention.py:53
        v_3 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1)  # flex_attention.py:53
        v_4 = jnp.broadcast_to(hidden, (128, 128)) * jnp.abs(v_2 - v_3).astype(jnp.float32)  # flex_attention.py:53
        scores_2 = scores - v_4  # flex_attention.py:53
        v_5 = v_2 >= v_3  # flex_attention.py:57
        scores_3 = jnp.where(v_5, scores_2, -jnp.inf)  # flex_attention.py:30
        inside = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < 150 - tile_n_begin  # flex_attention.py:31
        v_6 = jnp.max(jnp.where(inside, scores_3, -jnp.inf), axis=1).reshape((128, 1))  # flex_attention.py:31
        higher = jnp.maximum(top_2, v_6)  # flex_attention.py:31
        weights = jnp.exp(scores_3 - jnp.broadcast_to(higher, (128, 128)))  # flex_attention.py:32
        fade = jnp.exp(top_2 - higher)  # flex_attention.py:33
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 1) < 150 - tile_n_begin  # flex_attention.py:34
        weights_2 = jnp.where(inside_2, weights, 0.0)  # flex_attention.py:34
        total_3 = total_2 * fade + jnp.sum(weights_2, axis=1).reshape((128, 1))  # flex_attention.py:34
        v_7 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # flex_attention.py:35
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < 150 - tile_n_begin  # flex_attention.py:35
        acc_3 = acc_2 * jnp.broadcast_to(fade, (128, 64)) + jnp.dot(  # flex_attention.py:35
            weights_2,
            jnp.where(inside_3, v_7.T, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return (acc_3, higher, total_3)

    acc_4, top_3, total_4 = jax.lax.fori_loop(0, 2, tile_n_body, (acc, top, total), unroll=2)  # flex_attention.py:26
    out_ref[...] = (acc_4 / jnp.broadcast_to(total_4, (128, 64))).T  # flex_attention.py:37
    sums_ref[0, :] = (top_3 + jnp.log(total_4)).reshape((128,))  # flex_attention.py:38


def flex_attention(q, k, v, hidden):
    q_2 = jnp.transpose(q, (0, 1, 3, 2))  # flex_attention.py:20
    k_2 = jnp.transpose(k, (0, 1, 3, 2))  # flex_attention.py:20
    v_2 = jnp.transpose(v, (0, 1, 3, 2))  # flex_attention.py:20
    out, sums = pl.pallas_call(  # flex_attention.py:20
        flex_attention_kernel,
        grid=(2, 4, 2),
        in_specs=[
            pl.BlockSpec((None, None, 64, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, 0, tile_m)),
            pl.BlockSpec((None, None, 64, 256), lambda tile_b, tile_h, tile_m: (tile_b, tile_h // 2, 0, 0)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, None, 64, 256), lambda tile_b, tile_h, tile_m: (tile_b, tile_h // 2, 0, 0)),
        ],
        out_specs=[
            pl.BlockSpec((None, None, 64, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, 0, tile_m)),
            pl.BlockSpec((None, None, 1, 128), lambda tile_b, tile_h, tile_m: (tile_b, tile_h, 0, tile_m)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((2, 4, 64, 150), jnp.float32),
            jax.ShapeDtypeStruct((2, 4, 1, 150), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="flex_attention",
    )(q_2, k_2, hidden, v_2)
    sums_2 = sums.reshape((2, 4, 150))  # flex_attention.py:20
    out_2 = jnp.transpose(out, (0, 1, 3, 2))  # flex_attention.py:20
    return out_2, sums_2
