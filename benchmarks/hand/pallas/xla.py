"""The same computations in `jax.numpy`, for XLA. Its own grouped product has computed trips, and no figure."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp


def matmul(x, y):
    return jnp.dot(x, y)


def exp(x):
    return jnp.exp(x)


def attention(q, k, v, causal=False):
    scores = jnp.einsum("bhmd,bhnd->bhmn", q, k, preferred_element_type=jnp.float32) / math.sqrt(q.shape[-1])
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
    return jnp.einsum("bhmn,bhnd->bhmd", jax.nn.softmax(scores).astype(v.dtype), v)


def causal_attention(q, k, v):
    return attention(q, k, v, causal=True)


def cross_entropy(logits, labels):
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - picked)


def rotary(q, k, cos, sin):
    cos, sin = (x.astype(jnp.float32)[:, None] for x in (cos, sin))

    def turned(x):
        wide = x.astype(jnp.float32)
        first, second = jnp.split(wide, 2, axis=-1)
        return (wide * cos + jnp.concatenate([-second, first], axis=-1) * sin).astype(x.dtype)

    return turned(q), turned(k)


def softmax(x):
    return jax.nn.softmax(x.astype(jnp.float32), axis=1).astype(x.dtype)


def layer_norm(x, weight, bias):
    wide = x.astype(jnp.float32)
    centred = wide - jnp.mean(wide, axis=1, keepdims=True)
    scale = jax.lax.rsqrt(jnp.mean(centred * centred, axis=1, keepdims=True) + 1e-5)
    return (centred * scale * weight + bias).astype(x.dtype)


def embedding(ids, table):
    return table[ids]
