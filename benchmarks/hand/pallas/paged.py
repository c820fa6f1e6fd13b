"""Attention of one query a head over pages: several pages are copied at once, while those before are attended to.

A step is a block of pages of a sequence and all heads; the blocks behind a sequence's length are neither copied nor
computed.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(
    lengths_ref, table_ref, q_ref, k_hbm, v_hbm, out_ref, k_ref, v_ref, arrived, top_ref, total_ref, acc_ref, *, pages
):
    sequence, block = pl.program_id(0), pl.program_id(1)
    sequences, blocks = pl.num_programs(0), pl.num_programs(1)
    heads, _, page, depth = k_hbm.shape
    rows = pages * page
    slot = (sequence * blocks + block) & 1

    def copies(sequence, block, slot):
        for n in range(pages):
            number = table_ref[sequence, block * pages + n]
            for kind, (source, target) in enumerate(((k_hbm, k_ref), (v_hbm, v_ref))):
                to = target.at[slot, :, pl.ds(n * page, page), :]
                yield pltpu.make_async_copy(source.at[:, number], to, arrived.at[slot, kind])

    def fetch(sequence, block, slot):
        @pl.when(block * rows < lengths_ref[sequence])
        def _():
            for copy in copies(sequence, block, slot):
                copy.start()

    pl.when((sequence == 0) & (block == 0))(lambda: fetch(sequence, block, slot))
    last = block + 1 == blocks
    behind = jnp.where(last, sequence + 1, sequence)
    pl.when(behind < sequences)(lambda: fetch(behind, jnp.where(last, 0, block + 1), 1 - slot))

    @pl.when(block == 0)
    def _():
        top_ref[...] = jnp.full_like(top_ref, -jnp.inf)
        total_ref[...] = jnp.zeros_like(total_ref)
        acc_ref[...] = jnp.zeros_like(acc_ref)

    @pl.when(block * rows < lengths_ref[sequence])
    def _():
        for copy in copies(sequence, block, slot):
            copy.wait()
        scores = jnp.einsum("hgd,hnd->hgn", q_ref[...], k_ref[slot], preferred_element_type=jnp.float32)
        place = block * rows + jax.lax.broadcasted_iota(jnp.int32, (1, 1, rows), 2)
        scores = jnp.where(place < lengths_ref[sequence], scores * (1 / math.sqrt(depth)), -jnp.inf)
        before = top_ref[...]
        top = jnp.maximum(before, jnp.max(scores, axis=2, keepdims=True))
        weights, fade = jnp.exp(scores - top[:, :, :1]), jnp.exp(before - top)
        total_ref[...] = total_ref[...] * fade + jnp.sum(weights, axis=2, keepdims=True)
        products = jnp.einsum(
            "hgn,hnd->hgd", weights.astype(v_ref.dtype), v_ref[slot], preferred_element_type=jnp.float32
        )
        acc_ref[...] = acc_ref[...] * fade[:, :, :1] + products
        top_ref[...] = top

    @pl.when(last)
    def _():
        out_ref[...] = (acc_ref[...] / total_ref[:, :, :1]).astype(out_ref.dtype)


def paged_attention(q, keys, values, lengths, table, pages: int = 4) -> jax.Array:
    """``keys`` and ``values`` are [heads, pages, rows, d]; ``pages`` divides the number of pages of a sequence."""
    sequences, heads, depth = q.shape
    few, _, page, _ = keys.shape
    group = heads // few
    queries = pl.BlockSpec((None, few, group, depth), lambda s, b, *_: (s, 0, 0, 0))
    kept, statistic = (2, few, pages * page, depth), pltpu.VMEM((few, group, 128), jnp.float32)
    out = pl.pallas_call(
        partial(_body, pages=pages),
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=2,
            grid=(sequences, table.shape[1] // pages),
            in_specs=[queries, pl.BlockSpec(memory_space=pltpu.HBM), pl.BlockSpec(memory_space=pltpu.HBM)],
            out_specs=queries,
            scratch_shapes=[
                *(pltpu.VMEM(kept, x.dtype) for x in (keys, values)),
                pltpu.SemaphoreType.DMA((2, 2)),
                statistic,
                statistic,
                pltpu.VMEM((few, group, depth), jnp.float32),
            ],
        ),
        out_shape=jax.ShapeDtypeStruct((sequences, few, group, depth), q.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("arbitrary", "arbitrary"), vmem_limit_bytes=64 * 2**20
        ),
        name="paged_attention_by_hand",
    )(lengths, table, q.reshape(sequences, few, group, depth), keys, values)
    return out.reshape(q.shape)
