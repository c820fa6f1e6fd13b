"""window_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def window_attention_kernel(q_ref, k_ref, v_ref, out_ref):
    tile_m = pl.program_id(1)
    tile_m_begin = tile_m * 512

    @pl.when(tile_m == 0)  # attention.py:70
    def _():
        queries = q_ref[...]  # attention.py:71
        largest = jnp.full((1, 512, 1), -1.442695e+30, jnp.float32)  # attention.py:72
        total = jnp.full((1, 512, 1), 0.0, jnp.float32)  # attention.py:73
        acc = jnp.full((1, 512, 128), 0.0, jnp.float32)  # attention.py:74
        k = k_ref[:, 0:512, :]  # attention.py:76
        v = jax.lax.dot_general(  # attention.py:76
            queries, jnp.transpose(k, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores = v * 0.12751743  # attention.py:76
        v_2 = (  # attention.py:78
            jax.lax.broadcasted_iota(jnp.int32, (512, 512), 0) >= jax.lax.broadcasted_iota(jnp.int32, (512, 512), 1)
        )
        scores_2 = jnp.where(v_2.astype(jnp.int32).reshape((1, 512, 512)) != 0, scores, -jnp.inf)  # attention.py:75
        grown = jnp.maximum(largest, jnp.max(scores_2, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink = jnp.exp2(largest - grown)  # attention.py:80
        weights = jnp.exp2(scores_2 - jnp.broadcast_to(grown, (1, 512, 512)))  # attention.py:81
        total_2 = total * shrink + jnp.sum(weights, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_3 = v_ref[:, 0:512, :]  # attention.py:83
        acc_2 = acc * jnp.broadcast_to(shrink, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights.astype(jnp.bfloat16), v_3, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        out_ref[...] = (acc_2 / jnp.broadcast_to(total_2, (1, 512, 128))).astype(jnp.bfloat16)  # attention.py:85

    @pl.when(tile_m == 1)  # attention.py:70
    def _():
        queries_2 = q_ref[...]  # attention.py:71
        largest_2 = jnp.full((1, 512, 1), -1.442695e+30, jnp.float32)  # attention.py:72
        total_3 = jnp.full((1, 512, 1), 0.0, jnp.float32)  # attention.py:73
        acc_3 = jnp.full((1, 512, 128), 0.0, jnp.float32)  # attention.py:74
        k_2 = k_ref[:, 0:512, :]  # attention.py:76
        v_4 = jax.lax.dot_general(  # attention.py:76
            queries_2, jnp.transpose(k_2, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores_3 = v_4 * 0.12751743  # attention.py:76
        grown_2 = jnp.maximum(largest_2, jnp.max(scores_3, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink_2 = jnp.exp2(largest_2 - grown_2)  # attention.py:80
        weights_2 = jnp.exp2(scores_3 - jnp.broadcast_to(grown_2, (1, 512, 512)))  # attention.py:81
        total_4 = total_3 * shrink_2 + jnp.sum(weights_2, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_5 = v_ref[:, 0:512, :]  # attention.py:83
        acc_4 = acc_3 * jnp.broadcast_to(shrink_2, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights_2.astype(jnp.bfloat16), v_5, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        queries_3 = q_ref[...]  # attention.py:71
        k_3 = k_ref[:, 512:1024, :]  # attention.py:76
        v_6 = jax.lax.dot_general(  # attention.py:76
            queries_3, jnp.transpose(k_3, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores_4 = v_6 * 0.12751743  # attention.py:76
        v_7 = (  # attention.py:78
            jax.lax.broadcasted_iota(jnp.int32, (512, 512), 0) >= jax.lax.broadcasted_iota(jnp.int32, (512, 512), 1)
        )
        scores_5 = jnp.where(v_7.astype(jnp.int32).reshape((1, 512, 512)) != 0, scores_4, -jnp.inf)  # attention.py:75
        grown_3 = jnp.maximum(grown_2, jnp.max(scores_5, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink_3 = jnp.exp2(grown_2 - grown_3)  # attention.py:80
        weights_3 = jnp.exp2(scores_5 - jnp.broadcast_to(grown_3, (1, 512, 512)))  # attention.py:81
        total_5 = total_4 * shrink_3 + jnp.sum(weights_3, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_8 = v_ref[:, 512:1024, :]  # attention.py:83
        acc_5 = acc_4 * jnp.broadcast_to(shrink_3, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights_3.astype(jnp.bfloat16), v_8, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        out_ref[...] = (acc_5 / jnp.broadcast_to(total_5, (1, 512, 128))).astype(jnp.bfloat16)  # attention.py:85

    @pl.when(tile_m >= 2)  # attention.py:70
    def _():
        queries_4 = q_ref[...]  # attention.py:71
        largest_3 = jnp.full((1, 512, 1), -1.442695e+30, jnp.float32)  # attention.py:72
        total_6 = jnp.full((1, 512, 1), 0.0, jnp.float32)  # attention.py:73
        acc_6 = jnp.full((1, 512, 128), 0.0, jnp.float32)  # attention.py:74
        tile_n_begin = tile_m_begin - 1024  # attention.py:75
        tile_n_start = tile_m_begin - 1023  # attention.py:75
        k_4 = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # attention.py:76
        v_9 = jax.lax.dot_general(  # attention.py:76
            queries_4, jnp.transpose(k_4, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores_6 = v_9 * 0.12751743  # attention.py:76
        v_10 = (  # attention.py:78
            jax.lax.broadcasted_iota(jnp.int32, (512, 512), 1) > jax.lax.broadcasted_iota(jnp.int32, (512, 512), 0)
        )
        scores_7 = jnp.where(v_10.astype(jnp.int32).reshape((1, 512, 512)) != 0, scores_6, -jnp.inf)  # attention.py:75
        grown_4 = jnp.maximum(largest_3, jnp.max(scores_7, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink_4 = jnp.exp2(largest_3 - grown_4)  # attention.py:80
        weights_4 = jnp.exp2(scores_7 - jnp.broadcast_to(grown_4, (1, 512, 512)))  # attention.py:81
        total_7 = total_6 * shrink_4 + jnp.sum(weights_4, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_11 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 512), 512), :]  # attention.py:83
        v_12 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (1, 512, 128), 1)  # attention.py:75
        inside = v_12 >= jnp.full((1, 512, 128), tile_n_start, jnp.int32)  # attention.py:75
        v_13 = jnp.where(inside, v_11, 0.0)  # attention.py:75
        acc_7 = acc_6 * jnp.broadcast_to(shrink_4, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights_4.astype(jnp.bfloat16), v_13, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        queries_5 = q_ref[...]  # attention.py:71
        tile_n_begin_2 = tile_m_begin - 512  # attention.py:75
        k_5 = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin_2, 512), 512), :]  # attention.py:76
        v_14 = jax.lax.dot_general(  # attention.py:76
            queries_5, jnp.transpose(k_5, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores_8 = v_14 * 0.12751743  # attention.py:76
        grown_5 = jnp.maximum(grown_4, jnp.max(scores_8, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink_5 = jnp.exp2(grown_4 - grown_5)  # attention.py:80
        weights_5 = jnp.exp2(scores_8 - jnp.broadcast_to(grown_5, (1, 512, 512)))  # attention.py:81
        total_8 = total_7 * shrink_5 + jnp.sum(weights_5, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_15 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin_2, 512), 512), :]  # attention.py:83
        acc_8 = acc_7 * jnp.broadcast_to(shrink_5, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights_5.astype(jnp.bfloat16), v_15, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        queries_6 = q_ref[...]  # attention.py:71
        k_6 = k_ref[:, pl.ds(pl.multiple_of(tile_m_begin, 512), 512), :]  # attention.py:76
        v_16 = jax.lax.dot_general(  # attention.py:76
            queries_6, jnp.transpose(k_6, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        scores_9 = v_16 * 0.12751743  # attention.py:76
        v_17 = (  # attention.py:78
            jax.lax.broadcasted_iota(jnp.int32, (512, 512), 0) >= jax.lax.broadcasted_iota(jnp.int32, (512, 512), 1)
        )
        scores_10 = jnp.where(v_17.astype(jnp.int32).reshape((1, 512, 512)) != 0, scores_9, -jnp.inf)  # attention.py:75
        grown_6 = jnp.maximum(grown_5, jnp.max(scores_10, axis=2).reshape((1, 512, 1)))  # attention.py:79
        shrink_6 = jnp.exp2(grown_5 - grown_6)  # attention.py:80
        weights_6 = jnp.exp2(scores_10 - jnp.broadcast_to(grown_6, (1, 512, 512)))  # attention.py:81
        total_9 = total_8 * shrink_6 + jnp.sum(weights_6, axis=2).reshape((1, 512, 1))  # attention.py:82
        v_18 = v_ref[:, pl.ds(pl.multiple_of(tile_m_begin, 512), 512), :]  # attention.py:83
        acc_9 = acc_8 * jnp.broadcast_to(shrink_6, (1, 512, 128)) + jax.lax.dot_general(  # attention.py:83
            weights_6.astype(jnp.bfloat16), v_18, (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
        )
        out_ref[...] = (acc_9 / jnp.broadcast_to(total_9, (1, 512, 128))).astype(jnp.bfloat16)  # attention.py:85


def window_attention(q, k, v):
    q_2 = q.reshape((8, 4096, 128))  # attention.py:67
    k_2 = k.reshape((8, 4096, 128))  # attention.py:67
    v_2 = v.reshape((8, 4096, 128))  # attention.py:67
    out = pl.pallas_call(  # attention.py:70
        window_attention_kernel,
        grid=(8, 8),
        in_specs=[
            pl.BlockSpec((1, 512, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 4096, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 4096, 128), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 512, 128), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((8, 4096, 128), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="window_attention",
    )(q_2, k_2, v_2)
    v_3 = out.reshape((1, 8, 4096, 128))  # attention.py:86
    return v_3
