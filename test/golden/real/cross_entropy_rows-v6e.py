"""cross_entropy_rows: Pallas kernels for TPU, emitted by kopt."""

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


def cross_entropy_rows_kernel(logits_ref, labels_ref, losses_ref):
    logits = logits_ref[...]  # cross_entropy.py:28
    values = logits.astype(jnp.float32)  # cross_entropy.py:28
    labels = labels_ref[...]  # cross_entropy.py:29
    at_label = _take_along(values, labels.reshape((256, 1)), 1).reshape((256,))  # cross_entropy.py:29
    largest = jnp.max(values, axis=1)  # cross_entropy.py:30
    v = values - jnp.broadcast_to(largest.reshape((256, 1)), (256, 2560))  # cross_entropy.py:31
    total = jnp.sum(jnp.exp(v), axis=1)  # cross_entropy.py:31
    losses_ref[...] = jnp.log(total) + largest - at_label  # cross_entropy.py:32


def cross_entropy_rows(logits, labels):
    losses = pl.pallas_call(  # cross_entropy.py:27
        cross_entropy_rows_kernel,
        grid=(16,),
        in_specs=[pl.BlockSpec((256, 2560), lambda rows: (rows, 0)), pl.BlockSpec((256,), lambda rows: (rows,))],
        out_specs=pl.BlockSpec((256,), lambda rows: (rows,)),
        out_shape=jax.ShapeDtypeStruct((4096,), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="cross_entropy_rows",
    )(logits, labels)
    return losses
