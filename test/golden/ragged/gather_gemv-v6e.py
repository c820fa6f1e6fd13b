"""gather_gemv: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _lanes_from(x, start, size, axis):
    """``size`` lanes of one dimension from a computed one on; those from outside are other lanes."""
    if x.ndim == 1:
        return _lanes_from(x[None, :], start, size, 1)[0]
    wide = x.astype(jnp.float32 if jnp.issubdtype(x.dtype, jnp.floating) else jnp.int32)
    lanes = x.shape[axis]
    rolled = pltpu.roll(wide, (lanes - start) % lanes, axis)
    return jax.lax.slice_in_dim(rolled, 0, size, axis=axis).astype(x.dtype)


def gather_gemv_kernel(
    numbers_ref, vector_ref, matrices_ref, out_ref, acc_ref, matrices_arrived_ref, matrices_rows_ref
):
    tile_k = pl.program_id(2)
    tile_k_begin = tile_k * 128

    @pl.when(tile_k == 0)  # gather.py:27
    def _():
        acc = jnp.full((4, 128, 1), 0.0, jnp.float32)  # gather.py:26
        acc_ref[...] = acc  # gather.py:27

    acc_2 = acc_ref[...]  # gather.py:27
    slot = tile_k & 1  # gather.py:28
    next_cell = tile_k + 1  # gather.py:28
    more = next_cell < 2  # gather.py:28
    other_slot = 1 - slot  # gather.py:28

    @pl.when(tile_k == 0)  # gather.py:28
    def _():
        def r_body(r, _):  # gather.py:28
            numbers = numbers_ref[jnp.minimum(r, 2)]  # gather.py:28
            row = jnp.maximum(jnp.minimum(numbers, 4), 0).astype(jnp.int32)  # gather.py:28
            pltpu.make_async_copy(  # gather.py:28
                matrices_ref.at[row, :, :],
                matrices_rows_ref.at[slot, r, :, :],
                matrices_arrived_ref.at[slot],
            ).start()
            return None

        jax.lax.fori_loop(0, 4, r_body, None)  # gather.py:28

    @pl.when(more)  # gather.py:28
    def _():
        def r_body_2(r_2, _):  # gather.py:28
            numbers_2 = numbers_ref[jnp.minimum(r_2, 2)]  # gather.py:28
            row_2 = jnp.maximum(jnp.minimum(numbers_2, 4), 0).astype(jnp.int32)  # gather.py:28
            pltpu.make_async_copy(  # gather.py:28
                matrices_ref.at[row_2, :, :],
                matrices_rows_ref.at[other_slot, r_2, :, :],
                matrices_arrived_ref.at[other_slot],
            ).start()
            return None

        jax.lax.fori_loop(0, 4, r_body_2, None)  # gather.py:28

    def r_body_3(r_3, _):  # gather.py:28
        pltpu.make_async_copy(  # gather.py:28
            matrices_rows_ref.at[slot, r_3, :, :],
            matrices_rows_ref.at[slot, r_3, :, :],
            matrices_arrived_ref.at[slot],
        ).wait()
        return None

    jax.lax.fori_loop(0, 4, r_body_3, None)  # gather.py:28
    matrices_rows = matrices_rows_ref[slot, :, :, :]  # gather.py:28
    v = jnp.concatenate([matrices_rows, jnp.full((4, 53, 200), 0, jnp.int8)], axis=1)  # gather.py:28
    v_2 = jnp.concatenate([v, jnp.full((4, 128, 56), 0, jnp.int8)], axis=2)  # gather.py:28
    block = _lanes_from(v_2, tile_k_begin, 128, 2).astype(jnp.float32)  # gather.py:28
    vector = vector_ref[...]  # gather.py:29
    inside = jax.lax.broadcasted_iota(jnp.int32, (4, 128, 128), 2) < 200 - tile_k_begin  # gather.py:29
    v_3 = jnp.where(inside, block * jnp.broadcast_to(vector, (4, 128, 128)), 0.0)  # gather.py:29
    acc_3 = acc_2 + jnp.sum(v_3, axis=2).reshape((4, 128, 1))  # gather.py:29
    acc_ref[...] = acc_3  # gather.py:27

    @pl.when(tile_k == 1)  # gather.py:27
    def _():
        acc_4 = acc_ref[...]  # gather.py:27
        acc_5 = acc_4.reshape((4, 128))  # gather.py:27
        out_ref[...] = acc_5  # gather.py:30


def gather_gemv(matrices, numbers, vector):
    out = pl.pallas_call(  # gather.py:25
        gather_gemv_kernel,
        grid=(1, 1, 2),
        in_specs=[
            pl.BlockSpec(memory_space=pltpu.SMEM),
            pl.BlockSpec((128,), lambda tile_i, tile_m, tile_k: (tile_k,)),
            pl.BlockSpec(memory_space=pltpu.HBM),
        ],
        out_specs=pl.BlockSpec((None, 4, 128), lambda tile_i, tile_m, tile_k: (tile_i, 0, tile_m)),
        out_shape=jax.ShapeDtypeStruct((1, 4, 75), jnp.float32),
        scratch_shapes=[
            pltpu.VMEM((4, 128, 1), jnp.float32),
            pltpu.SemaphoreType.DMA((2,)),
            pltpu.VMEM((2, 4, 75, 200), jnp.int8),
        ],
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "arbitrary"), disable_bounds_checks=True
        ),
        name="gather_gemv",
    )(numbers, vector, pltpu.with_memory_space_constraint(matrices, pltpu.HBM))
    out_2 = out.reshape((4, 75))[:3, :75]  # gather.py:25
    return out_2
