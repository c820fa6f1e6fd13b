"""paged_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def paged_attention_kernel(lengths_ref, grouped_ref, table_ref, keys_ref, values_ref, out_ref):
    tile_s = pl.program_id(1)
    length = lengths_ref[tile_s]  # paged.py:23
    queries = grouped_ref[...]  # paged.py:24
    top = jnp.full((2, 3, 1), -jnp.inf, jnp.float32)  # paged.py:25
    total = jnp.full((2, 3, 1), 0.0, jnp.float32)  # paged.py:26
    acc = jnp.full((2, 3, 64), 0.0, jnp.float32)  # paged.py:27
    v = length.astype(jnp.int32)  # paged.py:28
    tile_count = pl.cdiv(v, 32)  # paged.py:28

    def tile_body(tile, carry):  # paged.py:28
        acc_2, top_2, total_2 = carry
        tile_begin = tile * 32  # paged.py:28
        number = table_ref[tile_s, tile]  # paged.py:29
        v_2 = number.astype(jnp.int32)  # paged.py:30
        keys = keys_ref[:, v_2, :, :]  # paged.py:30
        v_3 = jax.lax.dot_general(  # paged.py:30
            queries,
            jnp.transpose(keys, (0, 2, 1)),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores = v_3 * 0.18033688  # paged.py:30
        v_4 = jax.lax.broadcasted_iota(jnp.int32, (32,), 0).reshape((1, 1, 32))  # paged.py:31
        v_5 = jnp.broadcast_to(jnp.asarray(tile_begin, jnp.int32), (1, 1, 32))  # paged.py:31
        v_6 = jnp.broadcast_to(  # paged.py:31
            (v_5 + v_4 < jnp.broadcast_to(length, (1, 1, 32))).astype(jnp.int32), (2, 3, 32)
        ) != 0
        scores_2 = jnp.where(v_6, scores, -jnp.inf)  # paged.py:31
        higher = jnp.maximum(top_2, jnp.max(scores_2, axis=2).reshape((2, 3, 1)))  # paged.py:32
        weights = jnp.exp2(scores_2 - jnp.broadcast_to(higher, (2, 3, 32)))  # paged.py:33
        fade = jnp.exp2(top_2 - higher)  # paged.py:34
        total_3 = total_2 * fade + jnp.sum(weights, axis=2).reshape((2, 3, 1))  # paged.py:35
        values = values_ref[:, v_2, :, :]  # paged.py:36
        acc_3 = acc_2 * jnp.broadcast_to(fade, (2, 3, 64)) + jax.lax.dot_general(  # paged.py:36
            weights,
            values,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return (acc_3, higher, total_3)

    acc_4, top_3, total_4 = jax.lax.fori_loop(0, tile_count, tile_body, (acc, top, total))  # paged.py:28
    out_ref[...] = acc_4 / jnp.broadcast_to(total_4, (2, 3, 64))  # paged.py:38


def paged_attention(q, keys, values, lengths, table):
    grouped = q.reshape((3, 3, 3, 64))  # paged.py:18
    out = pl.pallas_call(  # paged.py:21
        paged_attention_kernel,
        grid=(2, 3),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((None, 2, 3, 64), lambda h, tile_s: (tile_s, h, 0, 0)),
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((2, 12, 32, 64), lambda h, tile_s: (h, 0, 0, 0)),
            pl.BlockSpec((2, 12, 32, 64), lambda h, tile_s: (h, 0, 0, 0)),
        ],
        out_specs=pl.BlockSpec((None, 2, 3, 64), lambda h, tile_s: (tile_s, h, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 3, 3, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="paged_attention",
    )(lengths, grouped, table, keys, values)
    v = out.reshape((3, 9, 64))  # paged.py:39
    return v
