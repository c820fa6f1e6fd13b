"""counting_sort: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _from_bits(bits, dtype):
    """The inverse of `_bits`."""
    if jnp.issubdtype(dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(bits, jnp.float32).astype(dtype)
    return bits.astype(dtype)


def _bits(x):
    """The bits of an array of up to 32-bit elements, as i32."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jax.lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
    return x.astype(jnp.int32)


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
    picked = [_pick(x, jax.lax.index_in_dim(lane, n, axis=axis, keepdims=False), axis) for n in range(lane.shape[axis])]
    return jnp.stack(picked, axis=axis)


def counting_sort_0_kernel(numbers_ref, counts_ref, new_counts_ref, row_values_ref, row_number_arrived_ref, row_number_ref, row_number_block_ref):
    old = counts_ref[...]
    new_counts_ref[...] = old
    v = numbers_ref[...]  # histogram.py:21
    v_2 = jnp.full((4096,), 1, jnp.int32)  # histogram.py:21
    v_3 = v >= 0  # histogram.py:21
    v_4 = v < 256  # histogram.py:21
    v_5 = v_3 & v_4  # histogram.py:21
    v_6 = jnp.minimum(v, 255)  # histogram.py:21
    v_7 = jnp.maximum(v_6, 0)  # histogram.py:21
    row_numbers = jnp.where(v_5, v_7, (-1))  # histogram.py:21
    v_8 = row_numbers & 127  # histogram.py:21
    v_9 = row_numbers >> 7  # histogram.py:21
    v_10 = jnp.broadcast_to(v_8[:, None], (4096, 128))  # histogram.py:21
    v_11 = jax.lax.broadcasted_iota(jnp.int32, (128,), 0)  # histogram.py:21
    v_12 = jnp.broadcast_to(v_11, (4096, 128))  # histogram.py:21
    v_13 = v_10 == v_12  # histogram.py:21
    v_14 = jnp.broadcast_to(v_2[:, None], (4096, 128))  # histogram.py:21
    v_15 = jnp.where(v_13, v_14, 0)  # histogram.py:21
    row_number_block_ref[...] = v_9  # histogram.py:21
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
    row_values_ref[...] = v_15  # histogram.py:21

    def r_body(r, _):  # histogram.py:21
        n = row_number_ref[r]  # histogram.py:21
        v_16 = n >= 0  # histogram.py:21

        @pl.when(v_16)  # histogram.py:21
        def _():
            row = n.astype(jnp.int32)  # histogram.py:21
            old_2 = new_counts_ref[row, :]  # histogram.py:21
            v_17 = row_values_ref[r, :]  # histogram.py:21
            new = old_2 + v_17  # histogram.py:21
            new_counts_ref[row, :] = new  # histogram.py:21

        return None

    jax.lax.fori_loop(0, 4096, r_body, None)  # histogram.py:21


def counting_sort_1_kernel(numbers_ref, places_ref, new_places_ref, out_ref, row_mask_ref, row_values_ref, row_number_arrived_ref, row_number_ref, row_number_block_ref, row_before_ref, row_mask_ref_2, row_values_ref_2, row_number_arrived_ref_2, row_number_ref_2, row_number_block_ref_2):
    old = places_ref[...]
    new_places_ref[...] = old
    v = numbers_ref[...]  # histogram.py:25
    v_2 = jnp.full((4096,), 1, jnp.int32)  # histogram.py:25
    v_3 = v >= 0  # histogram.py:25
    v_4 = v < 256  # histogram.py:25
    v_5 = v_3 & v_4  # histogram.py:25
    v_6 = jnp.minimum(v, 255)  # histogram.py:25
    v_7 = jnp.maximum(v_6, 0)  # histogram.py:25
    row_numbers = jnp.where(v_5, v_7, (-1))  # histogram.py:25
    v_8 = row_numbers & 127  # histogram.py:25
    v_9 = row_numbers >> 7  # histogram.py:25
    v_10 = jnp.broadcast_to(v_8[:, None], (4096, 128))  # histogram.py:25
    v_11 = jax.lax.broadcasted_iota(jnp.int32, (128,), 0)  # histogram.py:25
    v_12 = jnp.broadcast_to(v_11, (4096, 128))  # histogram.py:25
    v_13 = v_10 == v_12  # histogram.py:25
    v_14 = jnp.broadcast_to(v_2[:, None], (4096, 128))  # histogram.py:25
    row_number_block_ref_2[...] = v_9  # histogram.py:25
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
    row_values_ref_2[...] = v_14  # histogram.py:25
    v_15 = v_13.astype(jnp.int32)  # histogram.py:25
    row_mask_ref_2[...] = v_15  # histogram.py:25

    def r_body(r, _):  # histogram.py:25
        n = row_number_ref_2[r]  # histogram.py:25
        v_16 = n >= 0  # histogram.py:25

        @pl.when(v_16)  # histogram.py:25
        def _():
            row = n.astype(jnp.int32)  # histogram.py:25
            old_2 = new_places_ref[row, :]  # histogram.py:25
            v_17 = row_values_ref_2[r, :]  # histogram.py:25
            v_18 = old_2 + v_17  # histogram.py:25
            v_19 = row_mask_ref_2[r, :]  # histogram.py:25
            v_20 = v_19 != 0  # histogram.py:25
            new = jnp.where(v_20, v_18, old_2)  # histogram.py:25
            new_places_ref[row, :] = new  # histogram.py:25
            row_before_ref[r, :] = old_2  # histogram.py:25

        return None

    jax.lax.fori_loop(0, 4096, r_body, None)  # histogram.py:25
    v_21 = row_before_ref[...]  # histogram.py:25
    v_22 = jnp.broadcast_to(v_8[:, None], (4096, 1))  # histogram.py:25
    v_23 = _take_along(v_21, v_22, 1)  # histogram.py:25
    ticket = v_23.reshape((4096,))  # histogram.py:25
    v_24 = numbers_ref[...]  # histogram.py:26
    v_25 = ticket >= 0  # histogram.py:26
    v_26 = ticket < 4096  # histogram.py:26
    v_27 = v_25 & v_26  # histogram.py:26
    v_28 = jnp.minimum(ticket, 4095)  # histogram.py:26
    v_29 = jnp.maximum(v_28, 0)  # histogram.py:26
    row_numbers_2 = jnp.where(v_27, v_29, (-1))  # histogram.py:26
    v_30 = row_numbers_2 & 127  # histogram.py:26
    v_31 = row_numbers_2 >> 7  # histogram.py:26
    v_32 = jnp.broadcast_to(v_30[:, None], (4096, 128))  # histogram.py:26
    v_33 = v_32 == v_12  # histogram.py:26
    v_34 = jnp.broadcast_to(v_24[:, None], (4096, 128))  # histogram.py:26
    row_number_block_ref[...] = v_31  # histogram.py:26
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
    row_values_ref[...] = v_34  # histogram.py:26
    v_35 = v_33.astype(jnp.int32)  # histogram.py:26
    row_mask_ref[...] = v_35  # histogram.py:26

    def r_body_2(r_2, _):  # histogram.py:26
        n_2 = row_number_ref[r_2]  # histogram.py:26
        v_36 = n_2 >= 0  # histogram.py:26

        @pl.when(v_36)  # histogram.py:26
        def _():
            row_2 = n_2.astype(jnp.int32)  # histogram.py:26
            old_3 = out_ref[row_2, :]  # histogram.py:26
            v_37 = row_values_ref[r_2, :]  # histogram.py:26
            v_38 = row_mask_ref[r_2, :]  # histogram.py:26
            v_39 = v_38 != 0  # histogram.py:26
            new_2 = jnp.where(v_39, v_37, old_3)  # histogram.py:26
            out_ref[row_2, :] = new_2  # histogram.py:26

        return None

    jax.lax.fori_loop(0, 4096, r_body_2, None)  # histogram.py:26


def counting_sort(numbers):
    counts = jnp.zeros((256,), jnp.int32)  # histogram.py:19
    counts_2 = counts.reshape((2, 128))  # histogram.py:20
    with jax.enable_x64(False):
        counts_3 = pl.pallas_call(  # histogram.py:20
            counting_sort_0_kernel,
            grid=(1,),
            in_specs=[
                pl.BlockSpec((4096,), lambda tile: (tile,)),
                pl.BlockSpec((2, 128), lambda tile: (0, 0)),
            ],
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
            in_specs=[
                pl.BlockSpec((4096,), lambda tile: (tile,)),
                pl.BlockSpec((2, 128), lambda tile: (0, 0)),
            ],
            out_specs=[
                pl.BlockSpec((2, 128), lambda tile: (0, 0)),
                pl.BlockSpec((32, 128), lambda tile: (0, 0)),
            ],
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
            compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",), vmem_limit_bytes=37978112),
            name="counting_sort_1",
        )(numbers, places_2)
    out_2 = out.reshape((4096,))  # histogram.py:24
    return out_2
