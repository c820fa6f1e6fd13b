"""Rows too long for a block: softmax of rows that stay in VMEM while they are read and written, and their sums."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

LANES = 128


def _softmax(x_ref, out_ref, kept_ref, largest_ref, total_ref, *, blocks):
    """Blocks come in the first half of the steps, and leave in the second one."""
    step, width = pl.program_id(1), x_ref.shape[1]

    @pl.when(step == 0)
    def _():
        largest_ref[...] = jnp.full_like(largest_ref, -jnp.inf)
        total_ref[...] = jnp.zeros_like(total_ref)

    @pl.when(step < blocks)
    def _():
        x = x_ref[...].astype(jnp.float32)
        kept_ref[:, pl.ds(pl.multiple_of(step * width, width), width)] = x_ref[...]
        before = largest_ref[...]
        largest = jnp.maximum(before, jnp.max(x, axis=1, keepdims=True))
        powers = jnp.exp(x - largest[:, :1])
        total_ref[...] = total_ref[...] * jnp.exp(before - largest) + jnp.sum(powers, axis=1, keepdims=True)
        largest_ref[...] = largest

    @pl.when(step >= blocks)
    def _():
        at = pl.ds(pl.multiple_of((step - blocks) * width, width), width)
        powers = jnp.exp(kept_ref[:, at].astype(jnp.float32) - largest_ref[:, :1])
        out_ref[...] = (powers * (1.0 / total_ref[:, :1])).astype(out_ref.dtype)


def softmax(x: jax.Array, rows: int = 8, columns: int = 65536) -> jax.Array:
    """The softmax of each row; both blocks divide their dimensions, and ``rows`` whole rows fit in VMEM."""
    m, n = x.shape
    blocks = n // columns
    statistic = pltpu.VMEM((rows, LANES), jnp.float32)
    return pl.pallas_call(
        partial(_softmax, blocks=blocks),
        grid=(m // rows, 2 * blocks),
        in_specs=[pl.BlockSpec((rows, columns), lambda i, j: (i, jnp.minimum(j, blocks - 1)))],
        out_specs=pl.BlockSpec((rows, columns), lambda i, j: (i, jnp.maximum(j - blocks, 0))),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((rows, n), x.dtype), statistic, statistic],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=100 * 2**20
        ),
        name="long_softmax_by_hand",
    )(x)


def _sum(x_ref, out_ref, parts_ref, *, columns):
    step, width = pl.program_id(0), x_ref.shape[1]
    x = x_ref[...].astype(jnp.float32)
    lane = jax.lax.broadcasted_iota(jnp.int32, (1, width), 1)
    x = jnp.where(lane < columns - step * width, x, 0.0)
    part = sum(x[:, first : first + LANES] for first in range(0, width, LANES))

    @pl.when(step == 0)
    def _():
        parts_ref[...] = part

    @pl.when(step > 0)
    def _():
        parts_ref[...] += part

    @pl.when(step == pl.num_programs(0) - 1)
    def _():
        out_ref[...] = jnp.sum(parts_ref[...], axis=1).astype(out_ref.dtype)


def sum_rows(x: jax.Array, width: int = 16384) -> jax.Array:
    """The sum of each of few rows: the lanes of a register are added up in VMEM, and together at the end."""
    m, n = x.shape
    return pl.pallas_call(
        partial(_sum, columns=n),
        grid=(pl.cdiv(n, width),),
        in_specs=[pl.BlockSpec((m, width), lambda j: (0, j))],
        out_specs=pl.BlockSpec((m,), lambda j: (0,)),
        out_shape=jax.ShapeDtypeStruct((m,), x.dtype),
        scratch_shapes=[pltpu.VMEM((m, LANES), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="long_sum_by_hand",
    )(x)
