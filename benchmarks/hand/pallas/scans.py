"""Scans: running sums of rows by products with a triangle of ones, and a linear recurrence in powers of two steps.

An infinity or NaN reaches only the sums behind it, as in torch: a second product counts these, infinities in fractions
and minus infinities in ones.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

SUBLANES = 8


def _marked(x: jax.Array, dtype: jnp.dtype) -> tuple[jax.Array, jax.Array]:
    """Finite numbers, and what counts others: 2^-9 for infinity, -1 for minus infinity, 2^-8 - 1 for NaN."""
    most = float(jnp.finfo(dtype).max)
    clamped = jnp.clip(x, -most, most)
    infinite, is_number = jnp.clip(x - clamped, -1.0, 2.0**-9), x == x
    numbers, marks = jnp.where(is_number, clamped, most), jnp.where(is_number, infinite, 2.0**-8 - 1.0)
    return numbers.astype(dtype), marks.astype(dtype)


def _running_sum(x_ref, out_ref, *, width, wide):
    row = jax.lax.broadcasted_iota(jnp.int32, (width, width), 0)
    upper = (row <= jax.lax.broadcasted_iota(jnp.int32, (width, width), 1)).astype(x_ref.dtype)
    before = jnp.zeros((x_ref.shape[0], 1), jnp.float32)
    for first in range(0, x_ref.shape[1], width):
        at = slice(first, first + width)
        numbers, marks = _marked(x_ref[:, at].astype(jnp.float32) if wide else x_ref[:, at], x_ref.dtype)
        sums, counts = (jnp.dot(side, upper, preferred_element_type=jnp.float32) for side in (numbers, marks))
        raised = jnp.where(counts == jnp.floor(counts), before + sums, jnp.inf)
        sums = raised + jnp.where(counts < 0.0, -jnp.inf, 0.0)
        out_ref[:, at] = sums.astype(out_ref.dtype)
        before = sums[:, width - 1 :]


def running_sum_narrow(x: jax.Array, rows: int = 256) -> jax.Array:
    """For a matrix unit of 128 columns, and vectors of 32 bits."""
    return running_sum(x, rows, 128, wide=True)


def running_sum(x: jax.Array, rows: int = 256, width: int = 256, wide: bool = False) -> jax.Array:
    """The sums of the first 1, 2, … elements of each row, in bf16; both blocks divide their dimensions."""
    m, n = x.shape
    block = pl.BlockSpec((rows, n), lambda i: (i, 0))
    return pl.pallas_call(
        partial(_running_sum, width=width, wide=wide),
        grid=(m // rows,),
        in_specs=[block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="running_sum_by_hand",
    )(x)


def _recurrence(decay_ref, x_ref, out_ref, state_ref, *, rows):
    """In registers of 8 rows: the 1, 2 and 4 rows before come in by rotations, then the state after the 8 above."""

    @pl.when(pl.program_id(2) == 0)
    def _():
        state_ref[...] = jnp.zeros_like(state_ref)

    width = x_ref.shape[1]
    row = jax.lax.broadcasted_iota(jnp.int32, (SUBLANES, width), 0)

    def body(n, state):
        at = pl.ds(pl.multiple_of(n * rows, rows), rows)
        decays, values = decay_ref[at, :].astype(jnp.float32), x_ref[at, :].astype(jnp.float32)
        found = []
        for first in range(0, rows, SUBLANES):
            left, added = (x[first : first + SUBLANES] for x in (decays, values))
            for shift in (1, 2, 4):
                early = row < shift
                added += left * jnp.where(early, 0.0, pltpu.roll(added, shift, 0))
                left *= jnp.where(early, 1.0, pltpu.roll(left, shift, 0))
            added += left * state
            state = added[SUBLANES - 1 :]
            found.append(added)
        out_ref[at, :] = jnp.concatenate(found).astype(out_ref.dtype)
        return state

    state_ref[...] = jax.lax.fori_loop(0, x_ref.shape[0] // rows, body, state_ref[...])


def linear_recurrence(decay: jax.Array, x: jax.Array, steps: int = 512, width: int = 512, rows: int = 16) -> jax.Array:
    """``h[t] = decay[t] * h[t - 1] + x[t]`` along the middle dimension; all blocks divide their dimensions."""
    batch, length, channels = x.shape
    block = pl.BlockSpec((None, steps, width), lambda b, w, t: (b, t, w))
    return pl.pallas_call(
        partial(_recurrence, rows=rows),
        grid=(batch, channels // width, length // steps),
        in_specs=[block, block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM((1, width), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
        name="linear_recurrence_by_hand",
    )(decay, x)
