"""Rotary position embedding: halves of a head change places by a rotation of lanes, the sine brings the sign."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(q_ref, k_ref, cos_ref, sin_ref, q_out_ref, k_out_ref):
    half = cos_ref.shape[1] // 2
    lane = jax.lax.broadcasted_iota(jnp.int32, cos_ref.shape, 1)
    cos = cos_ref[...].astype(jnp.float32)
    sin = jnp.where(lane < half, -1.0, 1.0) * sin_ref[...].astype(jnp.float32)
    for x_ref, out_ref in ((q_ref, q_out_ref), (k_ref, k_out_ref)):
        for head in range(x_ref.shape[0]):
            x = x_ref[head].astype(jnp.float32)
            out_ref[head] = (x * cos + pltpu.roll(x, half, 1) * sin).astype(out_ref.dtype)


def rotary(q: jax.Array, k: jax.Array, cos: jax.Array, sin: jax.Array, steps: int = 256) -> tuple[jax.Array, jax.Array]:
    """Both turned; ``steps`` divides the length."""
    batch, heads, length, depth = q.shape
    turned = pl.BlockSpec((None, heads, steps, depth), lambda b, i: (b, 0, i, 0))
    angles = pl.BlockSpec((None, steps, depth), lambda b, i: (b, i, 0))
    return pl.pallas_call(
        _body,
        grid=(batch, length // steps),
        in_specs=[turned, turned, angles, angles],
        out_specs=[turned, turned],
        out_shape=[jax.ShapeDtypeStruct(q.shape, q.dtype), jax.ShapeDtypeStruct(k.shape, k.dtype)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="rotary_by_hand",
    )(q, k, cos, sin)
