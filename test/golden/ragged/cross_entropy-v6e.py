"""cross_entropy: Pallas kernels for TPU, emitted by kopt."""

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


def _pick(x, lane, axis):
    """One lane of one dimension, which disappears, by number: exact for every bit pattern.

    ``lane`` has the shape of the result.
    """
    if x.ndim == 1:
        return _pick(x[None, :], lane[None], 1)[0]
    lanes = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)
    hit = lanes == jnp.expand_dims(lane, axis)
    return _from_bits(jnp.sum(jnp.where(hit, _bits(x), 0), axis=axis, dtype=jnp.int32), x.dtype)


def _take_along(x, lane, axis):
    """``jnp.take_along_axis``, by comparing each wanted lane with every lane, or with those of its register."""
    size = x.shape[axis]
    if axis == x.ndim - 1 > 0 and lane.shape[axis] == 1 and size % 128 == 0 and size > 128:
        x, lane = _register_of(x, lane), lane & 127
    picked = [_pick(x, jax.lax.index_in_dim(lane, n, axis=axis, keepdims=False), axis) for n in range(lane.shape[axis])]
    return jnp.stack(picked, axis=axis)


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


def cross_entropy_kernel(labels_ref, logits_ref, losses_ref):
    rows = pl.program_id(0)
    rows_begin = rows * 32
    v = jnp.full((32,), 333, jnp.int32)  # cross_entropy.py:15
    v_2 = (rows_begin + jax.lax.broadcasted_iota(jnp.int32, (32,), 0)) * 333  # cross_entropy.py:15
    labels = labels_ref[0, :]  # cross_entropy.py:15
    v_3 = v_2 + labels  # cross_entropy.py:15
    values = logits_ref[pl.ds(pl.multiple_of(rows_begin, 32), 32), :]  # cross_entropy.py:16
    largest = jnp.max(values, axis=1)  # cross_entropy.py:17
    v_4 = values - jnp.broadcast_to(largest.reshape((32, 1)), (32, 333))  # cross_entropy.py:18
    total = jnp.sum(jnp.exp(v_4), axis=1)  # cross_entropy.py:18
    v_5 = jnp.maximum(jnp.minimum(labels, 332), 0)  # cross_entropy.py:15
    near = _take_along(values, v_5.reshape((32, 1)), 1).reshape((32,))  # cross_entropy.py:15
    inside = jax.lax.broadcasted_iota(jnp.int32, (32,), 0) < 75 - rows_begin  # cross_entropy.py:15
    v_6 = jnp.where(inside, (labels != v_5).astype(jnp.int32), -2147483648)  # cross_entropy.py:15
    beyond = jnp.max(v_6, axis=0).astype(jnp.int32) > 0  # cross_entropy.py:15
    def then():
        v_7 = jnp.maximum(jnp.minimum(v_3, 24974), 0)  # cross_entropy.py:15
        logits = logits_ref[0:75, :]  # cross_entropy.py:15
        v_8 = _take_along(  # cross_entropy.py:15
            _take_rows(logits, jax.lax.div(v_7, v)), jnp.broadcast_to(jax.lax.rem(v_7, v)[:, None], (32, 1)), 1
        )
        far = v_8.reshape((32,))  # cross_entropy.py:15
        return far
    def otherwise():
        return near
    at_label = jax.lax.cond(beyond, then, otherwise)  # cross_entropy.py:15
    losses_ref[0, :] = jnp.log(total) + largest - at_label  # cross_entropy.py:19


def cross_entropy(logits, labels):
    labels_2 = jnp.pad(labels, [(0, 21)]).reshape((3, 1, 32))  # cross_entropy.py:14
    losses = pl.pallas_call(  # cross_entropy.py:14
        cross_entropy_kernel,
        grid=(3,),
        in_specs=[pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)), pl.BlockSpec((96, 333), lambda rows: (0, 0))],
        out_specs=pl.BlockSpec((None, 1, 32), lambda rows: (rows, 0, 0)),
        out_shape=jax.ShapeDtypeStruct((3, 1, 32), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="cross_entropy",
    )(labels_2, logits)
    losses_2 = losses.reshape((96,))[:75]  # cross_entropy.py:14
    v = jnp.mean(losses_2).astype(jnp.float32)  # cross_entropy.py:20
    return v
