"""counting_sort: Pallas kernels for TPU, emitted by kopt."""

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
    """Of each row the 128 lanes that hold one lane, by its number; zeros where there are none."""
    bits, number = _bits(x), jnp.broadcast_to(lane >> 7, (*x.shape[:-1], 128))
    found = jnp.zeros_like(number)
    for n in range(x.shape[-1] // 128):
        found = jnp.where(number == n, bits[..., 128 * n : 128 * n + 128], found)
    return _from_bits(found, x.dtype)


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
    """``jnp.take_along_axis``, by comparing each wanted lane with every lane."""
    size = x.shape[axis]
    if axis == x.ndim - 1 > 0 and lane.shape[axis] == 1 and size % 128 == 0 and size > 128:
        x, lane = _register_of(x, lane), lane & 127
    picked = [_pick(x, jax.lax.index_in_dim(lane, n, axis=axis, keepdims=False), axis) for n in range(lane.shape[axis])]
    return jnp.stack(picked, axis=axis)


def counting_sort_0_kernel(
    numbers_ref,
    counts_ref,
    new_counts_ref,
    row_values_ref,
    row_number_arrived_ref,
    row_number_ref,
    row_number_block_ref,
):
    old = counts_ref[...]
    new_counts_ref[...] = old
    numbers = numbers_ref[...]  # histogram.py:21
    row_numbers = jnp.where(  # histogram.py:21
        (numbers >= 0) & (numbers < 256), jnp.maximum(jnp.minimum(numbers, 255), 0), -1
    )
    v = (  # histogram.py:21
        jnp.broadcast_to((row_numbers & 127)[:, None], (4096, 128))
        == jax.lax.broadcasted_iota(jnp.int32, (4096, 128), 1)
    )
    v_2 = jnp.broadcast_to(jnp.full((4096,), 1, jnp.int32)[:, None], (4096, 128))  # histogram.py:21
    row_number_block_ref[...] = row_numbers >> 7  # histogram.py:21
    pltpu.make_async_copy(  # histogram.py:21
        row_number_block_ref.at[...],
        row_number_ref.at[...],
        row_number_arrived_ref.at[0],
    ).start()
    pltpu.make_async_copy(  # histogram.py:21
        row_number_block_ref.at[...],
        row_number_ref.at[...],
        row_number_arrived_ref.at[0],
    ).wait()
    row_values_ref[...] = jnp.where(v, v_2, 0)  # histogram.py:21

    def r_body(r, _):  # histogram.py:21
        n = row_number_ref[r]  # histogram.py:21

        @pl.when(n >= 0)  # histogram.py:21
        def _():
            row = n.astype(jnp.int32)  # histogram.py:21
            old_2 = new_counts_ref[row, :]  # histogram.py:21
            row_values = row_values_ref[r, :]  # histogram.py:21
            new = old_2 + row_values  # histogram.py:21
            new_counts_ref[row, :] = new  # histogram.py:21

        return None

    jax.lax.fori_loop(0, 4096, r_body, None, unroll=8)  # histogram.py:21


def counting_sort_1_kernel(
    numbers_ref,
    places_ref,
    new_places_ref,
    out_ref,
    row_mask_ref,
    row_values_ref,
    row_number_arrived_ref,
    row_number_ref,
    row_number_block_ref,
    row_before_ref,
    row_mask_ref_2,
    row_values_ref_2,
    row_number_arrived_ref_2,
    row_number_ref_2,
    row_number_block_ref_2,
):
    old = places_ref[...]
    new_places_ref[...] = old
    numbers = numbers_ref[...]  # histogram.py:25
    row_numbers = jnp.where(  # histogram.py:25
        (numbers >= 0) & (numbers < 256), jnp.maximum(jnp.minimum(numbers, 255), 0), -1
    )
    v = row_numbers & 127  # histogram.py:25
    v_2 = jax.lax.broadcasted_iota(jnp.int32, (4096, 128), 1)  # histogram.py:25
    row_number_block_ref_2[...] = row_numbers >> 7  # histogram.py:25
    pltpu.make_async_copy(  # histogram.py:25
        row_number_block_ref_2.at[...],
        row_number_ref_2.at[...],
        row_number_arrived_ref_2.at[0],
    ).start()
    pltpu.make_async_copy(  # histogram.py:25
        row_number_block_ref_2.at[...],
        row_number_ref_2.at[...],
        row_number_arrived_ref_2.at[0],
    ).wait()
    row_values_ref_2[...] = jnp.broadcast_to(jnp.full((4096,), 1, jnp.int32)[:, None], (4096, 128))  # histogram.py:25
    row_mask_ref_2[...] = (jnp.broadcast_to(v[:, None], (4096, 128)) == v_2).astype(jnp.int32)  # histogram.py:25

    def r_body(r, _):  # histogram.py:25
        n = row_number_ref_2[r]  # histogram.py:25

        @pl.when(n >= 0)  # histogram.py:25
        def _():
            row = n.astype(jnp.int32)  # histogram.py:25
            old_2 = new_places_ref[row, :]  # histogram.py:25
            row_values = row_values_ref_2[r, :]  # histogram.py:25
            row_mask = row_mask_ref_2[r, :]  # histogram.py:25
            new = jnp.where(row_mask != 0, old_2 + row_values, old_2)  # histogram.py:25
            new_places_ref[row, :] = new  # histogram.py:25
            row_before_ref[r, :] = old_2  # histogram.py:25

        return None

    jax.lax.fori_loop(0, 4096, r_body, None, unroll=8)  # histogram.py:25
    row_before = row_before_ref[...]  # histogram.py:25
    v_3 = _take_along(row_before, jnp.broadcast_to(v[:, None], (4096, 1)), 1)  # histogram.py:25
    ticket = v_3.reshape((4096,))  # histogram.py:25
    numbers_2 = numbers_ref[...]  # histogram.py:26
    row_numbers_2 = jnp.where(  # histogram.py:26
        (ticket >= 0) & (ticket < 4096), jnp.maximum(jnp.minimum(ticket, 4095), 0), -1
    )
    v_4 = jnp.broadcast_to((row_numbers_2 & 127)[:, None], (4096, 128))  # histogram.py:26
    row_number_block_ref[...] = row_numbers_2 >> 7  # histogram.py:26
    pltpu.make_async_copy(  # histogram.py:26
        row_number_block_ref.at[...],
        row_number_ref.at[...],
        row_number_arrived_ref.at[0],
    ).start()
    pltpu.make_async_copy(  # histogram.py:26
        row_number_block_ref.at[...],
        row_number_ref.at[...],
        row_number_arrived_ref.at[0],
    ).wait()
    row_values_ref[...] = jnp.broadcast_to(numbers_2[:, None], (4096, 128))  # histogram.py:26
    row_mask_ref[...] = (v_4 == v_2).astype(jnp.int32)  # histogram.py:26

    def r_body_2(r_2, _):  # histogram.py:26
        n_2 = row_number_ref[r_2]  # histogram.py:26

        @pl.when(n_2 >= 0)  # histogram.py:26
        def _():
            row_2 = n_2.astype(jnp.int32)  # histogram.py:26
            old_3 = out_ref[row_2, :]  # histogram.py:26
            row_values_2 = row_values_ref[r_2, :]  # histogram.py:26
            row_mask_2 = row_mask_ref[r_2, :]  # histogram.py:26
            new_2 = jnp.where(row_mask_2 != 0, row_values_2, old_3)  # histogram.py:26
            out_ref[row_2, :] = new_2  # histogram.py:26

        return None

    jax.lax.fori_loop(0, 4096, r_body_2, None, unroll=8)  # histogram.py:26


def counting_sort(numbers):
    counts = jnp.zeros((256,), jnp.int32)  # histogram.py:19
    counts_2 = counts.reshape((2, 128))  # histogram.py:20
    with jax.enable_x64(False):
        counts_3 = pl.pallas_call(  # histogram.py:20
            counting_sort_0_kernel,
            grid=(1,),
            in_specs=[pl.BlockSpec((4096,), lambda tile: (tile,)), pl.BlockSpec((2, 128), lambda tile: (0, 0))],
            out_specs=pl.BlockSpec((2, 128), lambda tile: (0, 0)),
            out_shape=jax.ShapeDtypeStruct((2, 128), jnp.int32),
            scratch_shapes=[
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.SemaphoreType.DMA((1,)),
                pltpu.SMEM((4096,), jnp.int32),
                pltpu.VMEM((4096,), jnp.int32),
            ],
            input_output_aliases={1: 0},
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
            name="counting_sort_0",
        )(numbers, counts_2)
    counts_4 = counts_3.reshape((256,))  # histogram.py:20
    v = jnp.cumsum(counts_4, axis=0, dtype=jnp.int64)  # histogram.py:22
    v_2 = v.astype(jnp.int32)  # histogram.py:22
    places = (v_2 - counts_4).astype(jnp.int32)  # histogram.py:22
    places_2 = places.reshape((2, 128))  # histogram.py:24
    with jax.enable_x64(False):
        places_3, out = pl.pallas_call(  # histogram.py:24
            counting_sort_1_kernel,
            grid=(1,),
            in_specs=[pl.BlockSpec((4096,), lambda tile: (tile,)), pl.BlockSpec((2, 128), lambda tile: (0, 0))],
            out_specs=[pl.BlockSpec((2, 128), lambda tile: (0, 0)), pl.BlockSpec((32, 128), lambda tile: (0, 0))],
            out_shape=[jax.ShapeDtypeStruct((2, 128), jnp.int32), jax.ShapeDtypeStruct((32, 128), jnp.int32)],
            scratch_shapes=[
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.SemaphoreType.DMA((1,)),
                pltpu.SMEM((4096,), jnp.int32),
                pltpu.VMEM((4096,), jnp.int32),
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.VMEM((4096, 128), jnp.int32),
                pltpu.SemaphoreType.DMA((1,)),
                pltpu.SMEM((4096,), jnp.int32),
                pltpu.VMEM((4096,), jnp.int32),
            ],
            input_output_aliases={1: 0},
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=37883904),
            name="counting_sort_1",
        )(numbers, places_2)
    out_2 = out.reshape((4096,))  # histogram.py:24
    return out_2
