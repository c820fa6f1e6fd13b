"""window_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def window_attention_kernel(q_ref, k_ref, v_ref, out_ref):
    tile_m = pl.program_id(1)
    tile_m_begin = tile_m * 32
    queries = q_ref[...]  # attention.py:71
    largest = jnp.full((1, 32, 1), -1.442695e+30, jnp.float32)  # attention.py:72
    total = jnp.full((1, 32, 1), 0.0, jnp.float32)  # attention.py:73
    acc = jnp.full((1, 32, 64), 0.0, jnp.float32)  # attention.py:74
    v = jnp.maximum(0, tile_m_begin - 37 + 1)  # attention.py:75
    v_2 = jnp.minimum(tile_m_begin + 32, 150)  # attention.py:75
    tile_n_first = v >> 3  # attention.py:75
    tile_n_blocks = jnp.where(v_2 > v, v_2 - tile_n_first * 8 + 127 >> 7, 0)  # attention.py:75

    def tile_n_number_body(tile_n_number, carry):  # attention.py:75
        acc_2, largest_2, total_2 = carry
        v_3 = tile_n_first + tile_n_number * 16  # attention.py:75
        tile_n_begin = jnp.minimum(v_3, 3) * 8  # attention.py:75
        tile_n_start = jnp.maximum(v, v_3 * 8)  # attention.py:75
        k = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 8), 128), :]  # attention.py:76
        v_4 = jax.lax.dot_general(  # attention.py:76
            queries,
            jnp.transpose(k, (0, 2, 1)),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        scores = v_4 * 0.18033688  # attention.py:76
        v_5 = tile_m_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0)  # attention.py:77
        v_6 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)  # attention.py:77
        ago = v_5 - v_6  # attention.py:77
        v_7 = ((ago >= 0) & (ago < 37)).astype(jnp.int32).reshape((1, 32, 128))  # attention.py:78
        scores_2 = jnp.where(v_7 != 0, scores, -jnp.inf)  # attention.py:78
        v_8 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2)  # attention.py:75
        inside = (  # attention.py:75
            (v_8 >= jnp.full((1, 32, 128), tile_n_start, jnp.int32)) & (v_8 < jnp.full((1, 32, 128), v_2, jnp.int32))
        )
        scores_3 = jnp.where(inside, scores_2, -jnp.inf)  # attention.py:75
        grown = jnp.maximum(largest_2, jnp.max(scores_3, axis=2).reshape((1, 32, 1)))  # attention.py:79
        shrink = jnp.exp2(largest_2 - grown)  # attention.py:80
        weights = jnp.exp2(scores_3 - jnp.broadcast_to(grown, (1, 32, 128)))  # attention.py:81
        total_3 = total_2 * shrink + jnp.sum(weights, axis=2).reshape((1, 32, 1))  # attention.py:82
        v_9 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 8), 128), :]  # attention.py:83
        v_10 = tile_n_begin + jax.lax.broadcasted_iota(jnp.int32, (1, 128, 64), 1)  # attention.py:75
        inside_2 = (  # attention.py:75
            (v_10 >= jnp.full((1, 128, 64), tile_n_start, jnp.int32)) & (v_10 < jnp.full((1, 128, 64), v_2, jnp.int32))
        )
        v_11 = jnp.where(inside_2, v_9, 0.0)  # attention.py:75
        acc_3 = acc_2 * jnp.broadcast_to(shrink, (1, 32, 64)) + jax.lax.dot_general(  # attention.py:83
            weights,
            v_11,
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return (acc_3, grown, total_3)

    acc_4, largest_3, total_4 = jax.lax.fori_loop(  # attention.py:75
        0, tile_n_blocks, tile_n_number_body, (acc, largest, total)
    )
    out_ref[...] = acc_4 / jnp.broadcast_to(total_4, (1, 32, 64))  # attention.py:85


def window_attention(q, k, v):
    q_2 = q.reshape((6, 150, 64))  # attention.py:67
    k_2 = k.reshape((6, 150, 64))  # attention.py:67
    v_2 = v.reshape((6, 150, 64))  # attention.py:67
    v_3 = jnp.pad(k_2, [(0, 0), (0, 2), (0, 0)])  # attention.py:70
    v_4 = jnp.pad(v_2, [(0, 0), (0, 2), (0, 0)])  # attention.py:70
    out = pl.pallas_call(  # attention.py:70
        window_attention_kernel,
        grid=(6, 5),
        in_specs=[
            pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 152, 64), lambda tile_b, tile_m: (tile_b, 0, 0)),
            pl.BlockSpec((1, 152, 64), lambda tile_b, tile_m: (tile_b, 0, 0)),
        ],
        out_specs=pl.BlockSpec((1, 32, 64), lambda tile_b, tile_m: (tile_b, tile_m, 0)),
        out_shape=jax.ShapeDtypeStruct((6, 150, 64), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="window_attention",
    )(q_2, v_3, v_4)
    v_5 = out.reshape((2, 3, 150, 64))  # attention.py:86
    return v_5
