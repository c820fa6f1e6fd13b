"""causal_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def causal_attention_kernel(q_ref, k_ref, v_ref, out_ref):
    tile_m = pl.program_id(1)

    @pl.when(tile_m == 0)  # attention.py:43
    def _():
        queries = q_ref[...]  # attention.py:44
        largest = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:45
        total = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:46
        acc = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:47
        k = k_ref[:, :, 0:128]  # attention.py:49
        v = jax.lax.dot_general(  # attention.py:49
            queries,
            k,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores = v * 0.18033688  # attention.py:49
        v_2 = (  # attention.py:51
            jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) >= jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)
        )
        scores_2 = jnp.where(  # attention.py:51
            jnp.broadcast_to(v_2.astype(jnp.int32), (1, 32, 128)) != 0, scores, -jnp.inf
        )
        inside = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 32  # attention.py:52
        v_3 = jnp.max(jnp.where(inside, scores_2, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown = jnp.maximum(largest, v_3)  # attention.py:52
        shrink = jnp.exp2(largest - grown)  # attention.py:53
        weights = jnp.exp2(scores_2 - jnp.broadcast_to(grown, (1, 32, 128)))  # attention.py:54
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 32  # attention.py:55
        weights_2 = jnp.where(inside_2, weights, 0.0)  # attention.py:55
        total_2 = total * shrink + jnp.sum(weights_2, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_4 = v_ref[:, :, 0:128]  # attention.py:56
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 32  # attention.py:56
        acc_2 = acc * jnp.broadcast_to(shrink, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_2,
            jnp.where(inside_3, jnp.transpose(v_4, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        out_ref[...] = acc_2 / jnp.broadcast_to(total_2, (1, 32, 64))  # attention.py:58

    @pl.when(tile_m == 1)  # attention.py:43
    def _():
        queries_2 = q_ref[...]  # attention.py:44
        largest_2 = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:45
        total_3 = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:46
        acc_3 = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:47
        k_2 = k_ref[:, :, 0:128]  # attention.py:49
        v_5 = jax.lax.dot_general(  # attention.py:49
            queries_2,
            k_2,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores_3 = v_5 * 0.18033688  # attention.py:49
        v_6 = (  # attention.py:51
            jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) >= -32 + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)
        )
        scores_4 = jnp.where(  # attention.py:51
            jnp.broadcast_to(v_6.astype(jnp.int32), (1, 32, 128)) != 0, scores_3, -jnp.inf
        )
        inside_4 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 64  # attention.py:52
        v_7 = jnp.max(jnp.where(inside_4, scores_4, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown_2 = jnp.maximum(largest_2, v_7)  # attention.py:52
        shrink_2 = jnp.exp2(largest_2 - grown_2)  # attention.py:53
        weights_3 = jnp.exp2(scores_4 - jnp.broadcast_to(grown_2, (1, 32, 128)))  # attention.py:54
        inside_5 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 64  # attention.py:55
        weights_4 = jnp.where(inside_5, weights_3, 0.0)  # attention.py:55
        total_4 = total_3 * shrink_2 + jnp.sum(weights_4, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_8 = v_ref[:, :, 0:128]  # attention.py:56
        inside_6 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 64  # attention.py:56
        acc_4 = acc_3 * jnp.broadcast_to(shrink_2, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_4,
            jnp.where(inside_6, jnp.transpose(v_8, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        out_ref[...] = acc_4 / jnp.broadcast_to(total_4, (1, 32, 64))  # attention.py:58

    @pl.when(tile_m == 2)  # attention.py:43
    def _():
        queries_3 = q_ref[...]  # attention.py:44
        largest_3 = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:45
        total_5 = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:46
        acc_5 = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:47
        k_3 = k_ref[:, :, 0:128]  # attention.py:49
        v_9 = jax.lax.dot_general(  # attention.py:49
            queries_3,
            k_3,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores_5 = v_9 * 0.18033688  # attention.py:49
        v_10 = (  # attention.py:51
            jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) >= -64 + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)
        )
        scores_6 = jnp.where(  # attention.py:51
            jnp.broadcast_to(v_10.astype(jnp.int32), (1, 32, 128)) != 0, scores_5, -jnp.inf
        )
        inside_7 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 96  # attention.py:52
        v_11 = jnp.max(jnp.where(inside_7, scores_6, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown_3 = jnp.maximum(largest_3, v_11)  # attention.py:52
        shrink_3 = jnp.exp2(largest_3 - grown_3)  # attention.py:53
        weights_5 = jnp.exp2(scores_6 - jnp.broadcast_to(grown_3, (1, 32, 128)))  # attention.py:54
        inside_8 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 96  # attention.py:55
        weights_6 = jnp.where(inside_8, weights_5, 0.0)  # attention.py:55
        total_6 = total_5 * shrink_3 + jnp.sum(weights_6, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_12 = v_ref[:, :, 0:128]  # attention.py:56
        inside_9 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 96  # attention.py:56
        acc_6 = acc_5 * jnp.broadcast_to(shrink_3, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_6,
            jnp.where(inside_9, jnp.transpose(v_12, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        out_ref[...] = acc_6 / jnp.broadcast_to(total_6, (1, 32, 64))  # attention.py:58

    @pl.when(tile_m == 3)  # attention.py:43
    def _():
        queries_4 = q_ref[...]  # attention.py:44
        largest_4 = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:45
        total_7 = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:46
        acc_7 = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:47
        k_4 = k_ref[:, :, 0:128]  # attention.py:49
        v_13 = jax.lax.dot_general(  # attention.py:49
            queries_4,
            k_4,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores_7 = v_13 * 0.18033688  # attention.py:49
        v_14 = (  # attention.py:51
            jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) >= -96 + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)
        )
        scores_8 = jnp.where(  # attention.py:51
            jnp.broadcast_to(v_14.astype(jnp.int32), (1, 32, 128)) != 0, scores_7, -jnp.inf
        )
        inside_10 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 128  # attention.py:52
        v_15 = jnp.max(jnp.where(inside_10, scores_8, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown_4 = jnp.maximum(largest_4, v_15)  # attention.py:52
        shrink_4 = jnp.exp2(largest_4 - grown_4)  # attention.py:53
        weights_7 = jnp.exp2(scores_8 - jnp.broadcast_to(grown_4, (1, 32, 128)))  # attention.py:54
        inside_11 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 128  # attention.py:55
        weights_8 = jnp.where(inside_11, weights_7, 0.0)  # attention.py:55
        total_8 = total_7 * shrink_4 + jnp.sum(weights_8, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_16 = v_ref[:, :, 0:128]  # attention.py:56
        inside_12 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 128  # attention.py:56
        acc_8 = acc_7 * jnp.broadcast_to(shrink_4, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_8,
            jnp.where(inside_12, jnp.transpose(v_16, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        out_ref[...] = acc_8 / jnp.broadcast_to(total_8, (1, 32, 64))  # attention.py:58

    @pl.when(tile_m == 4)  # attention.py:43
    def _():
        queries_5 = q_ref[...]  # attention.py:44
        largest_5 = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:45
        total_9 = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:46
        acc_9 = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:47
        k_5 = k_ref[:, :, 0:128]  # attention.py:49
        v_17 = jax.lax.dot_general(  # attention.py:49
            queries_5,
            k_5,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores_9 = v_17 * 0.18033688  # attention.py:49
        inside_13 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 128  # attention.py:52
        v_18 = jnp.max(jnp.where(inside_13, scores_9, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown_5 = jnp.maximum(largest_5, v_18)  # attention.py:52
        shrink_5 = jnp.exp2(largest_5 - grown_5)  # attention.py:53
        weights_9 = jnp.exp2(scores_9 - jnp.broadcast_to(grown_5, (1, 32, 128)))  # attention.py:54
        inside_14 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 128  # attention.py:55
        weights_10 = jnp.where(inside_14, weights_9, 0.0)  # attention.py:55
        total_10 = total_9 * shrink_5 + jnp.sum(weights_10, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_19 = v_ref[:, :, 0:128]  # attention.py:56
        inside_15 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 128  # attention.py:56
        acc_10 = acc_9 * jnp.broadcast_to(shrink_5, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_10,
            jnp.where(inside_15, jnp.transpose(v_19, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        k_6 = k_ref[:, :, 128:256]  # attention.py:49
        v_20 = jax.lax.dot_general(  # attention.py:49
            queries_5,
            k_6,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores_10 = v_20 * 0.18033688  # attention.py:49
        v_21 = (  # attention.py:51
            jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) >= jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)
        )
        scores_11 = jnp.where(  # attention.py:51
            jnp.broadcast_to(v_21.astype(jnp.int32), (1, 32, 128)) != 0, scores_10, -jnp.inf
        )
        inside_16 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 22  # attention.py:52
        v_22 = jnp.max(jnp.where(inside_16, scores_11, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:52
        grown_6 = jnp.maximum(grown_5, v_22)  # attention.py:52
        shrink_6 = jnp.exp2(grown_5 - grown_6)  # attention.py:53
        weights_11 = jnp.exp2(scores_11 - jnp.broadcast_to(grown_6, (1, 32, 128)))  # attention.py:54
        inside_17 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 22  # attention.py:55
        weights_12 = jnp.where(inside_17, weights_11, 0.0)  # attention.py:55
        total_11 = total_10 * shrink_6 + jnp.sum(weights_12, axis=2).reshape((1, 32, 1))  # attention.py:55
        v_23 = v_ref[:, :, 128:256]  # attention.py:56
        inside_18 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 22  # attention.py:56
        acc_11 = acc_10 * jnp.broadcast_to(shrink_6, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:56
            weights_12,
            jnp.where(inside_18, jnp.transpose(v_23, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        out_ref[...] = acc_11 / jnp.broadcast_to(total_11, (1, 32, 64))  # attention.py:58


def causal_attention(q, k, v):
    q_2 = q.reshape((6, 150, 64))  # attention.py:40
    k_2 = k.reshape((6, 150, 64))  # attention.py:40
    v_2 = v.reshape((6, 150, 64))  # attention.py:40
    k_3 = jnp.transpose(k_2, (0, 2, 1))  # attention.py:43
    v_3 = jnp.transpose(v_2, (0, 2, 1))  # attention.py:43
    out = pl.pallas_call(  # attention.py:43
        causal_attention_kernel,
        grid=(6, 5),
        in_specs=[
            pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 64, 256), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 64, 256), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((6, 150, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="causal_attention",
    )(q_2, k_3, v_3)
    v_4 = out.reshape((2, 3, 150, 64))  # attention.py:59
    return v_4
