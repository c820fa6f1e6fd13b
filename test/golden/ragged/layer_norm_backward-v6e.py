"""layer_norm_backward: Pallas kernels for TPU, emitted by kopt."""

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


def layer_norm_backward_kernel(
    grad_ref, x_ref, weight_ref, mean_ref, rstd_ref, out_ref, weight_parts_ref, bias_parts_ref
):
    batch = pl.program_id(0)
    batch_begin = batch * 64

    @pl.when(batch <= 1)  # layer_norm.py:32
    def _():
        weight_part = jnp.full((333,), 0.0, jnp.float32)  # layer_norm.py:33
        v = batch_begin + 64  # layer_norm.py:35

        def rows_body(rows, carry):  # layer_norm.py:35
            bias_part, weight_part_2 = carry
            rows_begin = batch_begin + rows * 16  # layer_norm.py:35
            rows_begin_2 = rows * 16  # layer_norm.py:36
            arriving = grad_ref[pl.ds(pl.multiple_of(rows_begin_2, 16), 16), :]  # layer_norm.py:36
            rows_begin_3 = rows * 16  # layer_norm.py:37
            x = x_ref[pl.ds(pl.multiple_of(rows_begin_3, 16), 16), :]  # layer_norm.py:37
            mean = mean_ref[...]  # layer_norm.py:37
            v_2 = jnp.broadcast_to(_lanes_from(mean, rows_begin, 16, 0).reshape((16, 1)), (16, 333))  # layer_norm.py:37
            rstd = rstd_ref[...]  # layer_norm.py:37
            v_3 = jnp.broadcast_to(_lanes_from(rstd, rows_begin, 16, 0).reshape((16, 1)), (16, 333))  # layer_norm.py:37
            normal = (x - v_2) * v_3  # layer_norm.py:37
            weight = weight_ref[...]  # layer_norm.py:38
            scaled = arriving * jnp.broadcast_to(weight, (16, 333))  # layer_norm.py:38
            along = jnp.sum(scaled * normal, axis=1).reshape((16, 1)) / 333.0  # layer_norm.py:39
            level = jnp.sum(scaled, axis=1).reshape((16, 1)) / 333.0  # layer_norm.py:40
            v_4 = (  # layer_norm.py:41
                scaled - normal * jnp.broadcast_to(along, (16, 333)) - jnp.broadcast_to(level, (16, 333))
            )
            rows_begin_4 = rows * 16  # layer_norm.py:41
            out_ref[pl.ds(pl.multiple_of(rows_begin_4, 16), 16), :] = v_4 * v_3  # layer_norm.py:41
            inside = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < v - rows_begin  # layer_norm.py:42
            weight_part_3 = weight_part_2 + jnp.sum(  # layer_norm.py:42
                jnp.where(inside, arriving * normal, 0.0), axis=0
            )
            inside_2 = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < v - rows_begin  # layer_norm.py:43
            bias_part_2 = bias_part + jnp.sum(jnp.where(inside_2, arriving, 0.0), axis=0)  # layer_norm.py:43
            return (bias_part_2, weight_part_3)

        bias_part_3, weight_part_4 = jax.lax.fori_loop(  # layer_norm.py:35
            0, 4, rows_body, (weight_part, weight_part), unroll=2
        )
        weight_parts_ref[0, :] = weight_part_4  # layer_norm.py:44
        bias_parts_ref[0, :] = bias_part_3  # layer_norm.py:45

    @pl.when(batch == 2)  # layer_norm.py:32
    def _():
        weight_part_5 = jnp.full((333,), 0.0, jnp.float32)  # layer_norm.py:33

        def rows_body_2(rows_2, carry):  # layer_norm.py:35
            bias_part_4, weight_part_6 = carry
            rows_begin_5 = 128 + rows_2 * 16  # layer_norm.py:35
            rows_begin_6 = rows_2 * 16  # layer_norm.py:36
            arriving_2 = grad_ref[pl.ds(pl.multiple_of(rows_begin_6, 16), 16), :]  # layer_norm.py:36
            rows_begin_7 = rows_2 * 16  # layer_norm.py:37
            x_2 = x_ref[pl.ds(pl.multiple_of(rows_begin_7, 16), 16), :]  # layer_norm.py:37
            v_5 = rows_begin_5 - 128  # layer_norm.py:37
            mean_2 = mean_ref[...]  # layer_norm.py:37
            v_6 = jnp.broadcast_to(_lanes_from(mean_2, v_5, 16, 0).reshape((16, 1)), (16, 333))  # layer_norm.py:37
            rstd_2 = rstd_ref[...]  # layer_norm.py:37
            v_7 = jnp.broadcast_to(_lanes_from(rstd_2, v_5, 16, 0).reshape((16, 1)), (16, 333))  # layer_norm.py:37
            normal_2 = (x_2 - v_6) * v_7  # layer_norm.py:37
            weight_2 = weight_ref[...]  # layer_norm.py:38
            scaled_2 = arriving_2 * jnp.broadcast_to(weight_2, (16, 333))  # layer_norm.py:38
            along_2 = jnp.sum(scaled_2 * normal_2, axis=1).reshape((16, 1)) / 333.0  # layer_norm.py:39
            level_2 = jnp.sum(scaled_2, axis=1).reshape((16, 1)) / 333.0  # layer_norm.py:40
            v_8 = (  # layer_norm.py:41
                scaled_2 - normal_2 * jnp.broadcast_to(along_2, (16, 333)) - jnp.broadcast_to(level_2, (16, 333))
            )
            rows_begin_8 = rows_2 * 16  # layer_norm.py:41
            out_ref[pl.ds(pl.multiple_of(rows_begin_8, 16), 16), :] = v_8 * v_7  # layer_norm.py:41
            inside_3 = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < 150 - rows_begin_5  # layer_norm.py:42
            v_9 = jnp.sum(jnp.where(inside_3, arriving_2 * normal_2, 0.0), axis=0)  # layer_norm.py:42
            weight_part_7 = weight_part_6 + v_9  # layer_norm.py:42
            inside_4 = jax.lax.broadcasted_iota(jnp.int32, (16, 333), 0) < 150 - rows_begin_5  # layer_norm.py:43
            bias_part_5 = bias_part_4 + jnp.sum(jnp.where(inside_4, arriving_2, 0.0), axis=0)  # layer_norm.py:43
            return (bias_part_5, weight_part_7)

        bias_part_6, weight_part_8 = jax.lax.fori_loop(  # layer_norm.py:35
            0, 2, rows_body_2, (weight_part_5, weight_part_5), unroll=2
        )
        weight_parts_ref[0, :] = weight_part_8  # layer_norm.py:44
        bias_parts_ref[0, :] = bias_part_6  # layer_norm.py:45


def layer_norm_backward(grad, x, weight, mean, rstd):
    v = jnp.pad(mean, [(0, 106)])  # layer_norm.py:32
    v_2 = jnp.pad(rstd, [(0, 106)])  # layer_norm.py:32
    out, weight_parts, bias_parts = pl.pallas_call(  # layer_norm.py:32
        layer_norm_backward_kernel,
        grid=(3,),
        in_specs=[
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((333,), lambda batch: (0,)),
            pl.BlockSpec((128,), lambda batch: (batch // 2,)),
            pl.BlockSpec((128,), lambda batch: (batch // 2,)),
        ],
        out_specs=[
            pl.BlockSpec((64, 333), lambda batch: (batch, 0)),
            pl.BlockSpec((None, 1, 333), lambda batch: (batch, 0, 0)),
            pl.BlockSpec((None, 1, 333), lambda batch: (batch, 0, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((150, 333), jnp.float32),
            jax.ShapeDtypeStruct((3, 1, 333), jnp.float32),
            jax.ShapeDtypeStruct((3, 1, 333), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="layer_norm_backward",
    )(grad, x, weight, v, v_2)
    bias_parts_2 = bias_parts.reshape((3, 333))  # layer_norm.py:32
    weight_parts_2 = weight_parts.reshape((3, 333))  # layer_norm.py:32
    v_3 = jnp.sum(weight_parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((333,))  # layer_norm.py:46
    v_4 = jnp.sum(bias_parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((333,))  # layer_norm.py:46
    return out, v_3, v_4
