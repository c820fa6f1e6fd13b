"""fp8_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def fp8_attention_kernel(q_ref, k_ref, v_ref, out_ref):
    def tile_m_body(tile_m, _):  # fp8_attention.py:19
        tile_m_begin = tile_m * 32  # fp8_attention.py:19
        queries = q_ref[pl.ds(pl.multiple_of(tile_m_begin, 32), 32), :]  # fp8_attention.py:20
        top = jnp.full((32, 1), -jnp.inf, jnp.float32)  # fp8_attention.py:21
        total = jnp.full((32, 1), 0.0, jnp.float32)  # fp8_attention.py:22
        acc = jnp.full((32, 64), 0.0, jnp.float32)  # fp8_attention.py:23

        def tile_n_body(tile_n, carry):  # fp8_attention.py:24
            acc_2, top_2, total_2 = carry
            tile_n_begin = tile_n * 128  # fp8_attention.py:24
            k = k_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # fp8_attention.py:25
            scores = jnp.dot(queries, k, preferred_element_type=jnp.float32) * 0.18033688  # fp8_attention.py:25
            inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 150 - tile_n_begin  # fp8_attention.py:26
            v = jnp.max(jnp.where(inside, scores, -jnp.inf), axis=1).reshape((32, 1))  # fp8_attention.py:26
            higher = jnp.maximum(top_2, v)  # fp8_attention.py:26
            weights = jnp.exp2(scores - jnp.broadcast_to(higher, (32, 128)))  # fp8_attention.py:27
            fade = jnp.exp2(top_2 - higher)  # fp8_attention.py:28
            inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 150 - tile_n_begin  # fp8_attention.py:29
            weights_2 = jnp.where(inside_2, weights, 0.0)  # fp8_attention.py:29
            total_3 = total_2 * fade + jnp.sum(weights_2, axis=1).reshape((32, 1))  # fp8_attention.py:29
            v_2 = v_ref[:, pl.ds(pl.multiple_of(tile_n_begin, 128), 128)]  # fp8_attention.py:30
            v_3 = jnp.minimum(jnp.maximum(weights_2, -448.0), 448.0).astype(jnp.float8_e4m3fn)  # fp8_attention.py:30
            inside_3 = jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < 150 - tile_n_begin  # fp8_attention.py:30
            acc_3 = acc_2 * jnp.broadcast_to(fade, (32, 64)) + jnp.dot(  # fp8_attention.py:30
                v_3, jnp.where(inside_3, v_2.T, 0.0), preferred_element_type=jnp.float32
            )
            return (acc_3, higher, total_3)

        acc_4, top_3, total_4 = jax.lax.fori_loop(0, 2, tile_n_body, (acc, top, total), unroll=2)  # fp8_attention.py:24
        out_ref[pl.ds(pl.multiple_of(tile_m_begin, 32), 32), :] = jnp.minimum(  # fp8_attention.py:32
            jnp.maximum(acc_4 / jnp.broadcast_to(total_4, (32, 64)), -448.0), 448.0
        ).astype(jnp.float8_e4m3fn)
        return None

    jax.lax.fori_loop(0, 5, tile_m_body, None)  # fp8_attention.py:19


def fp8_attention(q, k, v):
    k_2 = jnp.transpose(k, (0, 2, 1))  # fp8_attention.py:18
    out = pl.pallas_call(  # fp8_attention.py:18
        fp8_attention_kernel,
        grid=(3,),
        in_specs=[
            pl.BlockSpec((None, 160, 64), lambda h: (h, 0, 0)),
            pl.BlockSpec((None, 64, 256), lambda h: (h, 0, 0)),
            pl.BlockSpec((None, 64, 256), lambda h: (h, 0, 0)),
        ],
        out_specs=pl.BlockSpec((None, 160, 64), lambda h: (h, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 150, 64), jnp.float8_e4m3fn),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="fp8_attention",
    )(q, k_2, v)
    return out
