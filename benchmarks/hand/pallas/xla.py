"""The same computations in `jax.numpy`, for XLA. Its grouped product and its scans have no figure."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp


def matmul(x, y):
    return jnp.matmul(x, y)


def int8_matmul(x, y, scales_x, scales_y):
    return _scaled(jnp.dot(x, y, preferred_element_type=jnp.int32), scales_x, scales_y)


def fp8_matmul(x, y, scales_x, scales_y):
    return _scaled(jnp.dot(x, y, preferred_element_type=jnp.float32), scales_x, scales_y)


def _scaled(product, scales_x, scales_y):
    scales = scales_x.astype(jnp.float32)[:, None] * scales_y.astype(jnp.float32)[None, :]
    return (product * scales).astype(scales_x.dtype)


def swiglu_matmul(x, gate, up):
    opened, lifted = (jnp.dot(x, factor, preferred_element_type=jnp.float32) for factor in (gate, up))
    return (jax.nn.silu(opened) * lifted).astype(x.dtype)


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


def rms_norm(x, weight):
    wide = x.astype(jnp.float32)
    inverse = jax.lax.rsqrt(jnp.mean(wide * wide, axis=1) + 1e-5)
    return (wide * inverse[:, None] * weight).astype(x.dtype), inverse


def add(x, y):
    return x + y


def swiglu(gate, up):
    return jax.nn.silu(gate.astype(jnp.float32)).astype(up.dtype) * up


def geglu(gate, up):
    return jax.nn.gelu(gate.astype(jnp.float32), approximate=True).astype(up.dtype) * up


def sum_rows(x):
    return jnp.sum(x.astype(jnp.float32), axis=1).astype(x.dtype)


def embedding(ids, table):
    return table[ids]
