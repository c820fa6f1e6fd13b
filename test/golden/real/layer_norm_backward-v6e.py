"""layer_norm_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def layer_norm_backward_kernel(
    grad_ref, x_ref, mean_ref, rstd_ref, weight_ref, out_ref, weight_parts_ref, bias_parts_ref
):
    weight_part = jnp.full((1024,), 0.0, jnp.float32)  # layer_norm.py:33

    def rows_body(rows, carry):  # layer_norm.py:35
        bias_part, weight_part_2 = carry
        rows_begin_2 = rows * 512  # layer_norm.py:36
        grad = grad_ref[pl.ds(pl.multiple_of(rows_begin_2, 512), 512), :]  # layer_norm.py:36
        arriving = grad.astype(jnp.float32)  # layer_norm.py:36
        rows_begin_3 = rows * 512  # layer_norm.py:37
        x = x_ref[pl.ds(pl.multiple_of(rows_begin_3, 512), 512), :]  # layer_norm.py:37
        rows_begin_4 = rows * 512  # layer_norm.py:37
        mean = mean_ref[pl.ds(pl.multiple_of(rows_begin_4, 512), 512)]  # layer_norm.py:37
        v_2 = x.astype(jnp.float32) - jnp.broadcast_to(mean.reshape((512, 1)), (512, 1024))  # layer_norm.py:37
        rows_begin_5 = rows * 512  # layer_norm.py:37
        rstd = rstd_ref[pl.ds(pl.multiple_of(rows_begin_5, 512), 512)]  # layer_norm.py:37
        v_3 = jnp.broadcast_to(rstd.reshape((512, 1)), (512, 1024))  # layer_norm.py:37
        normal = v_2 * v_3  # layer_norm.py:37
        weight = weight_ref[...]  # layer_norm.py:38
        scaled = arriving * jnp.broadcast_to(weight.astype(jnp.float32), (512, 1024))  # layer_norm.py:38
        along = jnp.sum(scaled * normal, axis=1).reshape((512, 1)) / 1024.0  # layer_norm.py:39
        level = jnp.sum(scaled, axis=1).reshape((512, 1)) / 1024.0  # layer_norm.py:40
        v_4 = (  # layer_norm.py:41
            scaled - normal * jnp.broadcast_to(along, (512, 1024)) - jnp.broadcast_to(level, (512, 1024))
        )
        rows_begin_6 = rows * 512  # layer_norm.py:41
        out_ref[pl.ds(pl.multiple_of(rows_begin_6, 512), 512), :] = (v_4 * v_3).astype(jnp.bfloat16)  # layer_norm.py:41
        weight_part_3 = weight_part_2 + jnp.sum(arriving * normal, axis=0)  # layer_norm.py:42
        bias_part_2 = bias_part + jnp.sum(arriving, axis=0)  # layer_norm.py:43
        return (bias_part_2, weight_part_3)

    bias_part_3, weight_part_4 = jax.lax.fori_loop(  # layer_norm.py:35
        0, 4, rows_body, (weight_part, weight_part), unroll=4
    )
    weight_parts_ref[0, :] = weight_part_4  # layer_norm.py:44
    bias_parts_ref[0, :] = bias_part_3  # layer_norm.py:45


def layer_norm_backward(grad, x, weight, mean, rstd):
    out, weight_parts, bias_parts = pl.pallas_call(  # layer_norm.py:32
        layer_norm_backward_kernel,
        grid=(16,),
        in_specs=[
            pl.BlockSpec((2048, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((2048, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((2048,), lambda batch: (batch,)),
            pl.BlockSpec((2048,), lambda batch: (batch,)),
            pl.BlockSpec((1024,), lambda batch: (0,)),
        ],
        out_specs=[
            pl.BlockSpec((2048, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((None, 1, 1024), lambda batch: (batch, 0, 0)),
            pl.BlockSpec((None, 1, 1024), lambda batch: (batch, 0, 0)),
        ],
        out_shape=[
            jax.ShapeDtypeStruct((32768, 1024), jnp.bfloat16),
            jax.ShapeDtypeStruct((16, 1, 1024), jnp.float32),
            jax.ShapeDtypeStruct((16, 1, 1024), jnp.float32),
        ],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=84168704),
        name="layer_norm_backward",
    )(grad, x, mean, rstd, weight)
    bias_parts_2 = bias_parts.reshape((16, 1024))  # layer_norm.py:32
    weight_parts_2 = weight_parts.reshape((16, 1024))  # layer_norm.py:32
    v = jnp.sum(weight_parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((1024,))  # layer_norm.py:46
    v_2 = v.astype(jnp.bfloat16)  # layer_norm.py:46
    v_3 = jnp.sum(bias_parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((1024,))  # layer_norm.py:46
    v_4 = v_3.astype(jnp.bfloat16)  # layer_norm.py:46
    return out, v_2, v_4
