"""Pallas kernels that come with JAX, with the blocks that suit the benchmark's shapes."""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.experimental.pallas.ops.tpu import flash_attention as flash
from jax.experimental.pallas.ops.tpu import matmul as product
from jax.experimental.pallas.ops.tpu.megablox import gmm
from jax.experimental.pallas.ops.tpu.paged_attention import paged_attention_kernel as paged
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_kernel as splash
from jax.experimental.pallas.ops.tpu.splash_attention import splash_attention_mask as masks


def matmul(x: jax.Array, y: jax.Array) -> jax.Array:
    """The product of JAX's documentation."""
    blocks = (min(1024, x.shape[0]), min(1024, y.shape[1]))
    return product.matmul(x, y, block_shape=blocks, block_k=min(1024, x.shape[1]))


def flash_attention(q: jax.Array, k: jax.Array, v: jax.Array, causal: bool = False) -> jax.Array:
    """Flash attention."""
    blocks = flash.BlockSizes(block_q=512, block_k_major=1024, block_k=512, block_b=1)
    scale = 1 / math.sqrt(q.shape[-1])
    return flash.flash_attention(q, k, v, causal=causal, sm_scale=scale, block_sizes=blocks)


def flash_attention_causal(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal flash attention."""
    return flash_attention(q, k, v, causal=True)


def splash_attention(
    q: jax.Array, k: jax.Array, v: jax.Array, mask: Callable[..., masks.Mask] = masks.FullMask
) -> jax.Array:
    """Splash attention, whose blocks that a mask empties are left out."""
    heads, m = q.shape[1:3]
    blocks = splash.BlockSizes(block_q=1024, block_kv=1024, block_kv_compute=512)
    every = masks.MultiHeadMask([mask((m, k.shape[2]))] * heads)
    kernel = splash.make_splash_mha(every, block_sizes=blocks, head_shards=1, q_seq_shards=1)
    return jax.vmap(kernel)((q / math.sqrt(q.shape[-1])).astype(q.dtype), k, v)


def splash_attention_causal(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Causal splash attention."""
    return splash_attention(q, k, v, masks.CausalMask)


def grouped_matmul(x: jax.Array, weights: jax.Array, offsets: jax.Array) -> jax.Array:
    """Megablox, with the whole inner dimension at once."""
    sizes = jnp.diff(offsets)
    tiling = (min(512, x.shape[0]), x.shape[1], min(1024, weights.shape[2]))
    return gmm(x, weights, sizes, preferred_element_type=x.dtype, tiling=tiling)


def splash_attention_window(q: jax.Array, k: jax.Array, v: jax.Array, window: int = 1024) -> jax.Array:
    """Splash attention, where queries see the last keys only."""
    return splash_attention(q, k, v, lambda shape: masks.LocalMask(shape, (window - 1, 0), 0))


def paged_attention(q, keys, values, lengths, table) -> jax.Array:
    """Attention over pages, whose queries come scaled."""
    scaled = (q / math.sqrt(q.shape[-1])).astype(q.dtype)
    return paged.paged_attention(scaled, keys, values, lengths, table, pages_per_compute_block=min(8, table.shape[1]))
