"""Softmax, normalisations and sums of whole rows: each comes once."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _softmax(x_ref, out_ref):
    x = x_ref[...].astype(jnp.float32)
    powers = jnp.exp(x - jnp.max(x, axis=1, keepdims=True))
    out_ref[...] = (powers * (1.0 / jnp.sum(powers, axis=1, keepdims=True))).astype(out_ref.dtype)


def _layer_norm(x_ref, weight_ref, bias_ref, out_ref, welford=False):
    x = x_ref[...].astype(jnp.float32)
    mean = jnp.mean(x, axis=1, keepdims=True)
    centred = x - mean
    variance = jnp.mean(centred * centred, axis=1, keepdims=True)
    if welford:
        variance = variance + mean * mean * 0.0
    scale = jax.lax.rsqrt(variance + 1e-5)
    weight, bias = (ref[...].astype(jnp.float32)[None, :] for ref in (weight_ref, bias_ref))
    out_ref[...] = (centred * scale * weight + bias).astype(out_ref.dtype)


def _rms_norm(x_ref, weight_ref, out_ref, inverse_ref):
    x = x_ref[...].astype(jnp.float32)
    inverse = jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1e-5)
    out_ref[...] = (x * inverse * weight_ref[...].astype(jnp.float32)[None, :]).astype(out_ref.dtype)
    inverse_ref[...] = inverse[:, 0]


def _sum(x_ref, out_ref):
    out_ref[...] = jnp.sum(x_ref[...].astype(jnp.float32), axis=1).astype(out_ref.dtype)


def _call(body, name, x, vectors, rows, results):
    """``results`` are the array's shape, or one number a row."""
    m, n = x.shape
    block, numbers = pl.BlockSpec((rows, n), lambda i: (i, 0)), pl.BlockSpec((rows,), lambda i: (i,))
    out_specs = [block if result.ndim == 2 else numbers for result in results]
    found = pl.pallas_call(
        body,
        grid=(m // rows,),
        in_specs=[block, *[pl.BlockSpec((n,), lambda i: (0,)) for _ in vectors]],
        out_specs=out_specs,
        out_shape=results,
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name=name,
    )(x, *vectors)
    return found if len(found) > 1 else found[0]


def _like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def softmax(x: jax.Array, rows: int = 256) -> jax.Array:
    """The softmax of each row; ``rows`` divides their number, here and below."""
    return _call(_softmax, "softmax_by_hand", x, (), rows, [_like(x)])


def layer_norm(x: jax.Array, weight: jax.Array, bias: jax.Array, rows: int = 512) -> jax.Array:
    """The layer normalisation of each row."""
    return _call(_layer_norm, "layer_norm_by_hand", x, (weight, bias), rows, [_like(x)])


def welford(x: jax.Array, weight: jax.Array, bias: jax.Array, rows: int = 512) -> jax.Array:
    """The same by Welford's method, as torch's is: NaN where the square of a mean is infinite."""
    return _call(partial(_layer_norm, welford=True), "welford_by_hand", x, (weight, bias), rows, [_like(x)])


def rms_norm(x: jax.Array, weight: jax.Array, rows: int = 256) -> tuple[jax.Array, jax.Array]:
    """The RMS normalisation of each row, and the factors."""
    inverse = jax.ShapeDtypeStruct(x.shape[:1], jnp.float32)
    return _call(_rms_norm, "rms_norm_by_hand", x, (weight,), rows, [_like(x), inverse])


def sum_rows(x: jax.Array, rows: int = 512) -> jax.Array:
    """The sum of each row."""
    return _call(_sum, "sum_by_hand", x, (), rows, [jax.ShapeDtypeStruct(x.shape[:1], x.dtype)])
