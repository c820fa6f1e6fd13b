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


def cross_entropy_kernel(
    labels_ref,
    logits_ref,
    logits_ref_2,
    losses_ref,
    logits_moved_ref,
    logits_numbers_block_ref,
    logits_numbers_ref,
    logits_rows_ref,
):
    rows = pl.program_id(0)
    rows_begin = rows * 512
    v = jnp.full((512,), 2560, jnp.int32)  # cross_entropy.py:15
    v_2 = (rows_begin + jax.lax.broadcasted_iota(jnp.int32, (512,), 0)) * 2560  # cross_entropy.py:15
    labels = labels_ref[...]  # cross_entropy.py:15
    v_3 = v_2 + labels  # cross_entropy.py:15
    held = logits_ref[...]  # cross_entropy.py:16
    values = held.astype(jnp.float32)  # cross_entropy.py:16
    largest = jnp.max(values, axis=1)  # cross_entropy.py:17
    v_4 = values - jnp.broadcast_to(largest.reshape((512, 1)), (512, 2560))  # cross_entropy.py:18
    total = jnp.sum(jnp.exp(v_4), axis=1)  # cross_entropy.py:18
    v_5 = jnp.maximum(jnp.minimum(labels, 2559), 0)  # cross_entropy.py:15
    v_6 = _take_along(values, v_5.reshape((512, 1)), 1).reshape((512,))  # cross_entropy.py:15
    near = v_6.astype(jnp.bfloat16)  # cross_entropy.py:15
    v_7 = jnp.max((labels != v_5).astype(jnp.int32), axis=0).astype(jnp.int32)  # cross_entropy.py:15
    beyond = v_7 > 0  # cross_entropy.py:15
    def then():
        v_8 = jnp.maximum(jnp.minimum(v_3, 10485759), 0)  # cross_entropy.py:15
        v_9 = jax.lax.div(v_8, v)  # cross_entropy.py:15
        logits_numbers_block_ref[...] = v_9 >> 3  # cross_entropy.py:15
        pltpu.sync_copy(logits_numbers_block_ref.at[...], logits_numbers_ref.at[...])  # cross_entropy.py:15

        def r_body(r, _):  # cross_entropy.py:15
            logits_numbers = logits_numbers_ref[r]  # cross_entropy.py:15
            row = logits_numbers.astype(jnp.int32)  # cross_entropy.py:15
            pltpu.make_async_copy(  # cross_entropy.py:15
                logits_ref_2.at[row, :, :],
                logits_rows_ref.at[r, :, :],
                logits_moved_ref.at[0],
            ).start()
            return None

        jax.lax.fori_loop(0, 512, r_body, None, unroll=32)  # cross_entropy.py:15
        pltpu.make_async_copy(  # cross_entropy.py:15
            logits_rows_ref.at[...],
            logits_rows_ref.at[...],
            logits_moved_ref.at[0],
        ).wait()
        logits_rows = logits_rows_ref[...]  # cross_entropy.py:15
        v_10 = jnp.broadcast_to(jax.lax.rem(v_8, v)[:, None, None], (512, 8, 1))  # cross_entropy.py:15
        v_11 = _take_along(logits_rows.astype(jnp.float32), v_10, 2).reshape((512, 8))  # cross_entropy.py:15
        v_12 = _take_along(v_11, jnp.broadcast_to((v_9 & 7)[:, None], (512, 1)), 1)  # cross_entropy.py:15
        far = v_12.reshape((512,)).astype(jnp.bfloat16)  # cross_entropy.py:15
        return far
    def otherwise():
        return near
    v_13 = jax.lax.cond(beyond, then, otherwise)  # cross_entropy.py:15
    at_label = v_13.astype(jnp.float32)  # cross_entropy.py:15
    losses_ref[...] = jnp.log(total) + largest - at_label  # cross_entropy.py:19


def cross_entropy(logits, labels):
    v = logits.reshape((512, 8, 2560))  # cross_entropy.py:14
    losses = pl.pallas_call(  # cross_entropy.py:14
        cross_entropy_kernel,
        grid=(8,),
        in_specs=[
            pl.BlockSpec((512,), lambda rows: (rows,)),
            pl.BlockSpec((512, 2560), lambda rows: (rows, 0)),
            pl.BlockSpec(memory_space=pltpu.HBM),
        ],
        out_specs=pl.BlockSpec((512,), lambda rows: (rows,)),
        out_shape=jax.ShapeDtypeStruct((4096,), jnp.float32),
        scratch_shapes=[
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.VMEM((512,), jnp.int32),
            pltpu.SMEM((512,), jnp.int32),
            pltpu.VMEM((512, 8, 2560), jnp.bfloat16),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=83906560),
        name="cross_entropy",
    )(labels, logits, pltpu.with_memory_space_constraint(v, pltpu.HBM))
    v_2 = jnp.mean(losses).astype(jnp.float32)  # cross_entropy.py:20
    return v_2
