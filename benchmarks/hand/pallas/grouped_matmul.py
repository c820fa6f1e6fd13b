"""The rows of each group times the group's own matrix, where groups begin at multiples of a block of rows."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(group_ref, x_ref, weight_ref, out_ref):
    out_ref[...] = jnp.dot(x_ref[...], weight_ref[...], preferred_element_type=jnp.float32).astype(out_ref.dtype)


def grouped_matmul(x: jax.Array, weights: jax.Array, offsets: jax.Array, rows=512, columns=2048) -> jax.Array:
    """All of a group's inner dimension at once; ``offsets`` are multiples of ``rows``, from 0 to the number of rows."""
    m, k = x.shape
    n = weights.shape[2]
    starts = jnp.arange(m // rows, dtype=offsets.dtype) * rows
    group = jnp.sum(starts[:, None] >= offsets[None, 1:], axis=1, dtype=jnp.int32)
    return pl.pallas_call(
        _body,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(n // columns, m // rows),
            in_specs=[
                pl.BlockSpec((rows, k), lambda j, i, group: (i, 0)),
                pl.BlockSpec((None, k, columns), lambda j, i, group: (group[i], 0, j)),
            ],
            out_specs=pl.BlockSpec((rows, columns), lambda j, i, group: (i, j)),
        ),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100 * 2**20
        ),
        name="grouped_matmul_by_hand",
    )(group, x, weights)


def experts(x: jax.Array, weights: jax.Array, offsets: jax.Array) -> jax.Array:
    """The same with 128 rows an expert."""
    return grouped_matmul(x, weights, offsets, 128, min(1024, weights.shape[2]))
