"""embedding: Pallas kernels for TPU, emitted by kopt."""

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


def embedding_kernel(
    flat_ref, table_ref, out_ref, table_moved_ref, table_numbers_block_ref, table_numbers_ref, table_rows_ref
):
    flat = flat_ref[...]  # embedding.py:15
    v = jnp.maximum(jnp.minimum(flat, 7999), 0)  # embedding.py:15
    table_numbers_block_ref[...] = v >> 3  # embedding.py:15
    pltpu.sync_copy(table_numbers_block_ref.at[...], table_numbers_ref.at[...])  # embedding.py:15

    def r_body(r, _):  # embedding.py:15
        table_numbers = table_numbers_ref[r]  # embedding.py:15
        row = table_numbers.astype(jnp.int32)  # embedding.py:15
        pltpu.make_async_copy(  # embedding.py:15
            table_ref.at[row, :, :],
            table_rows_ref.at[r, :, :],
            table_moved_ref.at[0],
        ).start()
        return None

    jax.lax.fori_loop(0, 256, r_body, None, unroll=32)  # embedding.py:15
    pltpu.make_async_copy(  # embedding.py:15
        table_rows_ref.at[...],
        table_rows_ref.at[...],
        table_moved_ref.at[0],
    ).wait()
    table_rows = table_rows_ref[...]  # embedding.py:15
    v_2 = _take_along(  # embedding.py:15
        table_rows.astype(jnp.float32), jnp.broadcast_to((v & 7)[:, None, None], (256, 1, 1024)), 1
    )
    out_ref[...] = v_2.reshape((256, 1024)).astype(jnp.bfloat16)  # embedding.py:15


def embedding(ids, table):
    flat = ids.reshape((4096,))  # embedding.py:12
    v = table.reshape((1000, 8, 1024))  # embedding.py:14
    out = pl.pallas_call(  # embedding.py:14
        embedding_kernel,
        grid=(16, 1),
        in_specs=[pl.BlockSpec((256,), lambda tile, cols: (tile,)), pl.BlockSpec(memory_space=pltpu.HBM)],
        out_specs=pl.BlockSpec((256, 1024), lambda tile, cols: (tile, cols)),
        out_shape=jax.ShapeDtypeStruct((4096, 1024), jnp.bfloat16),
        scratch_shapes=[
            pltpu.SemaphoreType.DMA((1,)),
            pltpu.VMEM((256,), jnp.int32),
            pltpu.SMEM((256,), jnp.int32),
            pltpu.VMEM((256, 8, 1024), jnp.bfloat16),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=60823552),
        name="embedding",
    )(flat, pltpu.with_memory_space_constraint(v, pltpu.HBM))
    v_2 = out.reshape((2, 2048, 1024))  # embedding.py:16
    return v_2
