"""Lanes by number, which Mosaic lacks: those of a dimension that are picked, taken one by one, or begin anywhere.

As in `mosaic`, the text of these functions goes into emitted modules. Each gives arrays of the element type that it
takes, bit for bit.
"""

import jax  # noqa: TID253
import jax.numpy as jnp  # noqa: TID253
from jax.experimental.pallas import tpu as pltpu  # noqa: TID253


def _strided(x, axis, start, size, stride):
    """Every ``stride``-th lane of one dimension, ``size`` of them from ``start``."""
    if x.ndim == 1:
        return _strided(x[None, :], 1, start, size, stride)[0]
    length = (size - 1) * stride + 1
    x = jax.lax.slice_in_dim(x, start, start + length, axis=axis)
    rest = list(x.shape)
    rest[axis] = size * stride - length
    x = jnp.concatenate([x, jnp.zeros(rest, x.dtype)], axis=axis)
    split = x.reshape(*x.shape[:axis], size, stride, *x.shape[axis + 1 :])
    return jax.lax.index_in_dim(split, 0, axis=axis + 1, keepdims=False)


def _lanes_from(x, start, size, axis):
    """``size`` lanes of one dimension from a computed one on; those from outside are other lanes."""
    if x.ndim == 1:
        return _lanes_from(x[None, :], start, size, 1)[0]
    wide = x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int32)
    lanes = x.shape[axis]
    rolled = pltpu.roll(wide, (lanes - start) % lanes, axis)
    return jax.lax.slice_in_dim(rolled, 0, size, axis=axis).astype(x.dtype)


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


def _pick(x, lane, axis):
    """One lane of one dimension, which disappears, by number: exact for every bit pattern.

    ``lane`` has the shape of the result.
    """
    if x.ndim == 1:
        return _pick(x[None, :], lane[None], 1)[0]
    lanes = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    hit = lanes == jnp.expand_dims(lane, axis)
    return _from_bits(jnp.sum(jnp.where(hit, _bits(x), 0), axis=axis, dtype=jnp.int32), x.dtype)


def _register_of(x, lane):
    """Of each row the 128 lanes that hold one lane, by its number; zeros where there are none.

    A tree of selects: each bit of the number chooses between halves, so one select is made for each register but one.
    """
    bits, count = _bits(x), x.shape[-1] // 128
    number = jnp.broadcast_to(lane >> 7, (*x.shape[:-1], 128))

    def among(first, bit):
        if bit < 0:
            return bits[..., 128 * first : 128 * first + 128]
        low, half = among(first, bit - 1), first + (1 << bit)
        return low if half >= count else jnp.where((number & (1 << bit)) == 0, low, among(half, bit - 1))

    found = among(0, (count - 1).bit_length() - 1)
    return _from_bits(jnp.where((number >= 0) & (number < count), found, 0), x.dtype)


def _take_along(x, lane, axis):
    """``jnp.take_along_axis``, by comparing each wanted lane with every lane, or with those of its register."""
    size = x.shape[axis]
    if axis == x.ndim - 1 > 0 and lane.shape[axis] == 1 and size % 128 == 0 and size > 128:
        x, lane = _register_of(x, lane), lane & 127
    picked = [_pick(x, jax.lax.index_in_dim(lane, n, axis=axis, keepdims=False), axis) for n in range(lane.shape[axis])]
    return jnp.stack(picked, axis=axis)


def _take_many(x, lane, axis):
    """`_take_along` of many lanes, as a loop: written out one by one they would take minutes to trace and compile."""
    if x.ndim == 1:
        return _take_many(x[None, :], lane[None, :], 1)[0]
    numbers = jax.lax.broadcasted_iota(jnp.int32, lane.shape, axis)

    def step(n, taken):
        here = jnp.full([*lane.shape[:axis], *lane.shape[axis + 1 :]], n, jnp.int32)
        picked = _pick(x, _pick(lane, here, axis), axis)
        return jnp.where(numbers == n, jnp.expand_dims(picked, axis), taken)

    return jax.lax.fori_loop(0, lane.shape[axis], step, jnp.zeros(lane.shape, x.dtype))


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
