"""rms_norm_backward: Pallas kernels for TPU, emitted by kopt."""

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


def rms_norm_backward_kernel(x_ref, grad_ref, weight_ref, inverse_ref, out_ref, parts_ref):
    batch = pl.program_id(0)
    batch_begin = batch * 64

    @pl.when(batch <= 1)  # rms_norm.py:28
    def _():
        part = jnp.full((333,), 0.0, jnp.float32)  # rms_norm.py:29
        v = batch_begin + 64  # rms_norm.py:30

        def rows_body(rows, part_2):  # rms_norm.py:30
            rows_begin = batch_begin + rows * 16  # rms_norm.py:30
            inverse = inverse_ref[...]  # rms_norm.py:31
            rstd = _lanes_from(inverse, rows_begin, 16, 0).reshape((16, 1))  # rms_norm.py:31
            rows_begin_2 = rows * 16  # rms_norm.py:32
            x = x_ref[pl.ds(pl.multiple_of(rows_begin_2, 16), 16), :]  # rms_norm.py:32
            v_2 = jnp.broadcast_to(rstd, (16, 333))  # rms_norm.py:32
            normal = x * v_2  # rms_norm.py:32
            rows_begin_3 = rows * 16  # rms_norm.py:33
            arriving = grad_ref[pl.ds(pl.multiple_of(rows_begin_3, 16), 16), :]  # rms_norm.py:33
            weight = weight_ref[...]  # rms_norm.py:34
            scaled = arriving * jnp.broadcast_to(weight, (16, 333))  # rms_norm.py:34
            v_3 = jnp.broadcast_to(  # rms_norm.py:35
                jnp.sum(scaled * normal, axis=1).reshape((16, 1)) / 333.0, (16, 333)
            )
            rows_begin_4 = rows * 16  # rms_norm.py:35
            out_ref[pl.ds(pl.multiple_of(rows_begin_4, 16), 16), :] = (scaled - normal * v_3) * v_2  # rms_norm.py:35
            inside = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < v - rows_begin  # rms_norm.py:36
            part_3 = part_2 + jnp.sum(jnp.where(inside, arriving * normal, 0.0), axis=0)  # rms_norm.py:36
            return part_3

        part_4 = jax.lax.fori_loop(0, 4, rows_body, part, unroll=2)  # rms_norm.py:30
        parts_ref[0, :] = part_4  # rms_norm.py:37

    @pl.when(batch == 2)  # rms_norm.py:28
    def _():
        part_5 = jnp.full((333,), 0.0, jnp.float32)  # rms_norm.py:29

        def rows_body_2(rows_2, part_6):  # rms_norm.py:30
            rows_begin_5 = 128 + rows_2 * 16  # rms_norm.py:30
            inverse_2 = inverse_ref[...]  # rms_norm.py:31
            rstd_2 = _lanes_from(inverse_2, rows_begin_5 - 128, 16, 0).reshape((16, 1))  # rms_norm.py:31
            rows_begin_6 = rows_2 * 16  # rms_norm.py:32
            x_2 = x_ref[pl.ds(pl.multiple_of(rows_begin_6, 16), 16), :]  # rms_norm.py:32
            v_4 = jnp.broadcast_to(rstd_2, (16, 333))  # rms_norm.py:32
            normal_2 = x_2 * v_4  # rms_norm.py:32
            rows_begin_7 = rows_2 * 16  # rms_norm.py:33
            arriving_2 = grad_ref[pl.ds(pl.multiple_of(rows_begin_7, 16), 16), :]  # rms_norm.py:33
            weight_2 = weight_ref[...]  # rms_norm.py:34
            scaled_2 = arriving_2 * jnp.broadcast_to(weight_2, (16, 333))  # rms_norm.py:34
            v_5 = jnp.sum(scaled_2 * normal_2, axis=1).reshape((16, 1)) / 333.0  # rms_norm.py:35
            rows_begin_8 = rows_2 * 16  # rms_norm.py:35
            out_ref[pl.ds(pl.multiple_of(rows_begin_8, 16), 16), :] = (  # rms_norm.py:35
                (scaled_2 - normal_2 * jnp.broadcast_to(v_5, (16, 333))) * v_4
            )
            inside_2 = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < 150 - rows_begin_5  # rms_norm.py:36
            v_6 = jnp.sum(jnp.where(inside_2, arriving_2 * normal_2, 0.0), axis=0)  # rms_norm.py:36
            part_7 = part_6 + v_6  # rms_norm.py:36
            return part_7

        part_8 = jax.lax.fori_loop(0, 2, rows_body_2, part_5, unroll=2)  # rms_norm.py:30
        parts_ref[0, :] = part_8  # rms_norm.py:37


def rms_norm_backward(grad, x, weight, inverse):
    v = jnp.pad(inverse, [(0, 106)])  # rms_norm.py:28
    out, parts = pl.pallas_call(  # rms_norm.py:28
        rms_norm_backward_kernel,
        grid=(3,),
        in_specs=[
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((333,), lambda batch: (0,)),
            pl.BlockSpec((128,), lambda batch: (batch // 2,)),
        ],
        out_specs=[
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((None, 1, 333), lambda batch: (batch, 0, 0)),
        ],
        out_shape=[jax.ShapeDtypeStruct((150, 333), jnp.float32), jax.ShapeDtypeStruct((3, 1, 333), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="rms_norm_backward",
    )(x, grad, weight, v)
    parts_2 = parts.reshape((3, 333))  # rms_norm.py:28
    v_2 = jnp.sum(parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((333,))  # rms_norm.py:38
    return out, v_2
