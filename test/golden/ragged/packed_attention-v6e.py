"""packed_attention: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _lanes_from(x, start, size, axis):
    """``size`` lanes of one dimension from a computed one on; those from outside are other lanes."""
    if x.ndim == 1:
        return _lanes_from(x[None, :], start, size, 1)[0]
    wide = x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int32)
    lanes = x.shape[axis]
    rolled = pltpu.roll(wide, (lanes - start) % lanes, axis)
    return jax.lax.slice_in_dim(rolled, 0, size, axis=axis).astype(x.dtype)


def packed_attention_kernel(offsets_ref, out_ref, q_ref, k_ref, v_ref, new_out_ref):
    i = pl.program_id(1)

    @pl.when(i == 0)
    def _():
        old = out_ref[...]
        new_out_ref[...] = old

    begin = offsets_ref[i]  # packed.py:17
    end = offsets_ref[i + 1]  # packed.py:17
    v = begin.astype(jnp.int32)  # packed.py:18
    v_2 = end.astype(jnp.int32)  # packed.py:18
    mine_first = v >> 3  # packed.py:18
    mine_blocks = jnp.where(v_2 > v, v_2 - mine_first * 8 + 31 >> 5, 0)  # packed.py:18

    def mine_number_body(mine_number, _):  # packed.py:18
        v_3 = mine_first + mine_number * 4  # packed.py:18
        mine_begin = jnp.minimum(v_3, 6) * 8  # packed.py:18
        mine_start = jnp.maximum(v, v_3 * 8)  # packed.py:18
        top = jnp.full((32, 1), -jnp.inf, jnp.float32)  # packed.py:19
        total = jnp.full((32, 1), 0.0, jnp.float32)  # packed.py:20
        acc = jnp.full((32, 64), 0.0, jnp.float32)  # packed.py:21
        q = q_ref[pl.ds(pl.multiple_of(mine_begin, 8), 32), :]  # packed.py:23
        others_count = pl.cdiv(v_2 - v, 128)  # packed.py:22

        def others_body(others, carry):  # packed.py:22
            acc_2, top_2, total_2 = carry
            others_begin = v + others * 128  # packed.py:22
            others_aligned = jnp.minimum(jnp.maximum(others_begin, 0) >> 3, 0) * 8  # packed.py:23
            v_4 = others_begin - others_aligned  # packed.py:23
            k = k_ref[...]  # packed.py:23
            v_5 = jnp.dot(  # packed.py:23
                q,
                _lanes_from(k, v_4, 128, 0).T,
                precision=jax.lax.Precision.HIGHEST,
                preferred_element_type=jnp.float32,
            )
            scores = v_5 * 0.18033688  # packed.py:23
            v_6 = mine_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0)  # packed.py:25
            v_7 = others_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1)  # packed.py:25
            scores_2 = jnp.where(v_6 >= v_7, scores, -jnp.inf)  # packed.py:25
            inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < v_2 - others_begin  # packed.py:26
            v_8 = jnp.max(jnp.where(inside, scores_2, -jnp.inf), axis=1).reshape((32, 1))  # packed.py:26
            higher = jnp.maximum(top_2, v_8)  # packed.py:26
            weights = jnp.exp2(scores_2 - jnp.broadcast_to(higher, (32, 128)))  # packed.py:27
            decay = jnp.exp2(top_2 - higher)  # packed.py:28
            inside_2 = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < v_2 - others_begin  # packed.py:29
            weights_2 = jnp.where(inside_2, weights, 0.0)  # packed.py:29
            total_3 = total_2 * decay + jnp.sum(weights_2, axis=1).reshape((32, 1))  # packed.py:29
            v_9 = v_ref[...]  # packed.py:30
            inside_3 = jax.lax.broadcasted_iota(jnp.int32, (128, 64), 0) < v_2 - others_begin  # packed.py:30
            acc_3 = acc_2 * jnp.broadcast_to(decay, (32, 64)) + jnp.dot(  # packed.py:30
                weights_2,
                jnp.where(inside_3, _lanes_from(v_9, v_4, 128, 0), 0.0),
                precision=jax.lax.Precision.HIGHEST,
                preferred_element_type=jnp.float32,
            )
            return (acc_3, higher, total_3)

        acc_4, top_3, total_4 = jax.lax.fori_loop(0, others_count, others_body, (acc, top, total))  # packed.py:22
        v_10 = acc_4 / jnp.broadcast_to(total_4, (32, 64))  # packed.py:32
        v_11 = mine_begin + jax.lax.broadcasted_iota(jnp.int32, (32, 64), 0)  # packed.py:18
        inside_4 = (  # packed.py:18
            (v_11 >= jnp.full((32, 64), mine_start, jnp.int32)) & (v_11 < jnp.full((32, 64), v_2, jnp.int32))
        )
        old_2 = new_out_ref[pl.ds(pl.multiple_of(mine_begin, 8), 32), :]  # packed.py:18
        new = jnp.where(inside_4, v_10, old_2)  # packed.py:18
        new_out_ref[pl.ds(pl.multiple_of(mine_begin, 8), 32), :] = new  # packed.py:18
        return None

    jax.lax.fori_loop(0, mine_blocks, mine_number_body, None)  # packed.py:18


def packed_attention(q, k, v, offsets):
    out = jnp.zeros((75, 2, 64), jnp.float32)  # packed.py:14
    q_2 = jnp.transpose(q, (1, 0, 2))  # packed.py:16
    k_2 = jnp.transpose(k, (1, 0, 2))  # packed.py:16
    v_2 = jnp.transpose(v, (1, 0, 2))  # packed.py:16
    out_2 = jnp.transpose(out, (1, 0, 2))  # packed.py:16
    v_3 = jnp.pad(q_2, [(0, 0), (0, 5), (0, 0)])  # packed.py:16
    v_4 = jnp.pad(k_2, [(0, 0), (0, 61), (0, 0)])  # packed.py:16
    v_5 = jnp.pad(v_2, [(0, 0), (0, 61), (0, 0)])  # packed.py:16
    offsets_2 = jnp.clip(offsets, -(2**31), 2**31 - 1).astype(jnp.int32)  # packed.py:16
    with jax.enable_x64(False):
        out_3 = pl.pallas_call(  # packed.py:16
            packed_attention_kernel,
            grid=(2, 5),
            in_specs=[
                pl.BlockSpec(memory_space=pltpu.SMEM),
                pl.BlockSpec((None, 80, 64), lambda h, i: (h, 0, 0)),
                pl.BlockSpec((None, 80, 64), lambda h, i: (h, 0, 0)),
                pl.BlockSpec((None, 136, 64), lambda h, i: (h, 0, 0)),
                pl.BlockSpec((None, 136, 64), lambda h, i: (h, 0, 0)),
            ],
            out_specs=pl.BlockSpec((None, 80, 64), lambda h, i: (h, 0, 0)),
            out_shape=jax.ShapeDtypeStruct((2, 75, 64), jnp.float32),
            input_output_aliases={1: 0},
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "arbitrary")),
            name="packed_attention",
        )(offsets_2, out_2, v_3, v_4, v_5)
    out_4 = jnp.transpose(out_3, (1, 0, 2))  # packed.py:16
    return out_4
