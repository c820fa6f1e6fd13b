"""A product of narrow numbers, int8 or fp8, whose rows and columns have scales; the inner dimension comes at once."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _body(x_ref, y_ref, scales_x_ref, scales_y_ref, out_ref, *, exact):
    product = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=exact).astype(jnp.float32)
    scales_x = scales_x_ref[...].astype(jnp.float32)[:, None]
    scales_y = scales_y_ref[...].astype(jnp.float32)[None, :]
    out_ref[...] = (product * scales_x * scales_y).astype(out_ref.dtype)


def _call(x, y, scales_x, scales_y, rows, columns, exact):
    m, k = x.shape
    n = y.shape[1]
    return pl.pallas_call(
        partial(_body, exact=exact),
        grid=(m // rows, n // columns),
        in_specs=[
            pl.BlockSpec((rows, k), lambda i, j: (i, 0)),
            pl.BlockSpec((k, columns), lambda i, j: (0, j)),
            pl.BlockSpec((rows,), lambda i, j: (i,)),
            pl.BlockSpec((columns,), lambda i, j: (j,)),
        ],
        out_specs=pl.BlockSpec((rows, columns), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), scales_x.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100 * 2**20
        ),
        name="scaled_matmul_by_hand",
    )(x, y, scales_x, scales_y)


def int8_matmul(x: jax.Array, y: jax.Array, scales_x: jax.Array, scales_y: jax.Array, rows=1024, columns=1024):
    """``x @ y``, times the scales of rows and of columns; both blocks divide their dimensions."""
    return _call(x, y, scales_x, scales_y, rows, columns, jnp.int32)


def fp8_matmul(x: jax.Array, y: jax.Array, scales_x: jax.Array, scales_y: jax.Array, rows=1024, columns=1024):
    """The same of 8-bit floats."""
    return _call(x, y, scales_x, scales_y, rows, columns, jnp.float32)
