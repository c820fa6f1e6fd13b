"""attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def attention_kernel(q_ref, k_ref, v_ref, out_ref):
    queries = q_ref[...]  # attention.py:20
    largest = jnp.full((1, 32, 1), -jnp.inf, jnp.float32)  # attention.py:21
    total = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:22
    acc = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:23

    def tile_n_body(tile_n, carry):  # attention.py:24
        acc_2, largest_2, total_2 = carry
        tile_n_begin = tile_n * 128  # attention.py:24
        k = k_ref[:, :, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # attention.py:25
        v = jax.lax.dot_general(  # attention.py:25
            queries,
            k,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores = v * 0.18033688  # attention.py:25
        inside = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 150 - tile_n_begin  # attention.py:26
        v_2 = jnp.max(jnp.where(inside, scores, -jnp.inf), axis=2).reshape((1, 32, 1))  # attention.py:26
        grown = jnp.maximum(largest_2, v_2)  # attention.py:26
        shrink = jnp.exp2(largest_2 - grown)  # attention.py:27
        weights = jnp.exp2(scores - jnp.broadcast_to(grown, (1, 32, 128)))  # attention.py:28
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 150 - tile_n_begin  # attention.py:29
        weights_2 = jnp.where(inside_2, weights, 0.0)  # attention.py:29
        total_3 = total_2 * shrink + jnp.sum(weights_2, axis=2).reshape((1, 32, 1))  # attention.py:29
        v_3 = v_ref[:, :, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # attention.py:30
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1) < 150 - tile_n_begin  # attention.py:30
        acc_3 = acc_2 * jnp.broadcast_to(shrink, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:30
            weights_2,
            jnp.where(inside_3, jnp.transpose(v_3, (0, 2, 1)), 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return (acc_3, grown, total_3)

    acc_4, largest_3, total_4 = jax.lax.fori_loop(0, 2, tile_n_body, (acc, largest, total), unroll=2)  # attention.py:24
    out_ref[...] = acc_4 / jnp.broadcast_to(total_4, (1, 32, 64))  # attention.py:32


def attention(q, k, v):
    q_2 = q.reshape((6, 150, 64))  # attention.py:16
    k_2 = k.reshape((6, 150, 64))  # attention.py:16
    v_2 = v.reshape((6, 150, 64))  # attention.py:16
    k_3 = jnp.transpose(k_2, (0, 2, 1))  # attention.py:19
    v_3 = jnp.transpose(v_2, (0, 2, 1))  # attention.py:19
    out = pl.pallas_call(  # attention.py:19
        attention_kernel,
        grid=(6, 5),
        in_specs=[
            pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 64, 256), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 64, 256), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((6, 150, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="attention",
    )(q_2, k_3, v_3)
    v_4 = out.reshape((2, 3, 150, 64))  # attention.py:33
    return v_4
