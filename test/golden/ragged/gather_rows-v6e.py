"""gather_rows: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _bits(x):
    """The bits of an array of up to 32-bit elements, as i32."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
    return x.astype(jnp.int32)


def _from_bits(bits, dtype):
    """The inverse of `_bits`."""
    if jnp.issubdtype(dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(bits, jnp.float32).astype(dtype)
    return bits.astype(dtype)


def _take_rows(table, row):
    """``table[row, :]``: one-hot products of the bytes of the table, exact for every bit pattern.

    A byte is exact in bf16, and each sum has one term that is not 0, so NaN and infinities of other rows stay out.
    """
    lanes = jax.lax.broadcasted_iota(jnp.int32, (row.shape[0], table.shape[0]), 1)
    hot = jnp.where(lanes == row[:, None], 1.0, 0.0).astype(jnp.bfloat16)
    bits, width = _bits(table), 8 * table.dtype.itemsize
    shifts = range(32 - max(width, 16), 32, 8) if jnp.issubdtype(table.dtype, jnp.floating) else range(0, width, 8)
    if table.dtype == jnp.float16:
        shifts = range(8, 32, 8)
    result = jnp.zeros((row.shape[0], table.shape[1]), jnp.int32)
    for shift in shifts:
        byte = ((bits >> shift) & 255).astype(jnp.float32).astype(jnp.bfloat16)
        part = jnp.dot(hot, byte, preferred_element_type=jnp.float32)
        result = result | (part.astype(jnp.int32) << shift)
    return _from_bits(result, table.dtype)


def gather_rows_kernel(numbers_ref, x_ref, scales_ref, out_ref):
    numbers = numbers_ref[0, :]  # gather.py:16
    x = x_ref[...]  # gather.py:16
    scales = scales_ref[0, :]  # gather.py:16
    out_ref[...] = (  # gather.py:16
        _take_rows(x, jnp.maximum(jnp.minimum(numbers, 49), 0)) * jnp.broadcast_to(scales.reshape((32, 1)), (32, 128))
    )


def gather_rows(x, numbers, scales):
    v = numbers < 0  # gather.py:13
    v_2 = (numbers + 50).astype(jnp.int32)  # gather.py:13
    numbers_2 = jnp.where(v, v_2, numbers)  # gather.py:13
    numbers_3 = jnp.pad(numbers_2, [(0, 21)]).reshape((3, 1, 32))  # gather.py:15
    scales_2 = jnp.pad(scales, [(0, 21)]).reshape((3, 1, 32))  # gather.py:15
    out = pl.pallas_call(  # gather.py:15
        gather_rows_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((None, 1, 32), lambda tile_n, tile_i: (tile_i, 0, 0)),
            pl.BlockSpec((50, 128), lambda tile_n, tile_i: (0, tile_n)),
            pl.BlockSpec((None, 1, 32), lambda tile_n, tile_i: (tile_i, 0, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_i: (tile_i, tile_n)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="gather_rows",
    )(numbers_3, x, scales_2)
    return out
