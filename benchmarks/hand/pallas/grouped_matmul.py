"""The rows of each group times the group's own matrix; groups begin at multiples of a block of rows, or anywhere."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(group_ref, x_ref, weight_ref, out_ref):
    out_ref[...] = jnp.dot(x_ref[...], weight_ref[...], preferred_element_type=jnp.float32).astype(out_ref.dtype)


def grouped_matmul(x: jax.Array, weights: jax.Array, offsets: jax.Array, rows=512, columns=2048) -> jax.Array:
    """All of a group's inner dimension at once; ``offsets`` are multiples of ``rows``, from 0 to the number of rows."""
    starts = jnp.arange(x.shape[0] // rows, dtype=offsets.dtype) * rows
    group = jnp.sum(starts[:, None] >= offsets[None, 1:], axis=1, dtype=jnp.int32)
    return _blocks(x, weights, group, rows, columns)


def _blocks(x: jax.Array, weights: jax.Array, group: jax.Array, rows: int, columns: int) -> jax.Array:
    """Each block of rows times the matrix of its group."""
    m, k = x.shape
    n = weights.shape[2]
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


def expert_blocks(x: jax.Array, weights: jax.Array, experts: jax.Array) -> jax.Array:
    """Each block of rows times the matrix of its expert."""
    rows = x.shape[0] // experts.shape[0]
    return _blocks(x, weights, experts, rows, min(1024, weights.shape[2]))


def _part(start_ref, group_ref, offset_ref, x_ref, weight_ref, out_ref):
    """A block's rows of one group, beside those that groups before had in it."""
    part = pl.program_id(1)
    start, before = start_ref[part], start_ref[jnp.maximum(part - 1, 0)]
    rows = out_ref.shape[0]

    @pl.when((part == 0) | (start != before))
    def _():
        group = group_ref[part]
        number = start // rows * rows + jax.lax.broadcasted_iota(jnp.int32, out_ref.shape, 0)
        mine = (number >= offset_ref[group]) & (number < offset_ref[group + 1])
        product = jnp.dot(x_ref[...], weight_ref[...], preferred_element_type=jnp.float32).astype(out_ref.dtype)
        out_ref[...] = jnp.where(mine, product, out_ref[...])


def experts(x: jax.Array, weights: jax.Array, offsets: jax.Array, rows=128, columns=1024) -> jax.Array:
    """Groups that begin anywhere: a step for each block of rows, and one more for each group that begins in one.

    A group that begins with a block has a step that does nothing.
    """
    m, k = x.shape
    n = weights.shape[2]
    starts = jnp.concatenate([jnp.arange(m // rows, dtype=offsets.dtype) * rows, jnp.minimum(offsets[1:-1], m - 1)])
    parts = starts.shape[0]
    # Sorted by comparisons: of a sort libtpu tells no cycles.
    number = jnp.arange(parts)
    earlier = (starts[None, :] < starts[:, None]) | ((starts[None, :] == starts[:, None]) & (number < number[:, None]))
    place = jnp.sum(earlier, axis=1)
    start = jnp.sum(jnp.where(place[None, :] == number[:, None], starts[None, :], 0), axis=1, dtype=jnp.int32)
    group = jnp.sum(start[:, None] >= offsets[None, 1:], axis=1, dtype=jnp.int32)
    return pl.pallas_call(
        _part,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=3,
            grid=(n // columns, parts),
            in_specs=[
                pl.BlockSpec((rows, k), lambda j, i, start, group, offset: (start[i] // rows, 0)),
                pl.BlockSpec((None, k, columns), lambda j, i, start, group, offset: (group[i], 0, j)),
            ],
            out_specs=pl.BlockSpec((rows, columns), lambda j, i, start, group, offset: (start[i] // rows, j)),
        ),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=100 * 2**20
        ),
        name="experts_by_hand",
    )(start, group, offsets, x, weights)


def experts_by_columns(x: jax.Array, weights: jax.Array, offsets: jax.Array) -> jax.Array:
    """The same for two cores: each has half of the columns, and loads all rows."""
    return experts(x, weights, offsets, columns=weights.shape[2] // 2)
