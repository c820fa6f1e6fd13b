"""rms_norm_backward: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def rms_norm_backward_kernel(inverse_ref, x_ref, grad_ref, weight_ref, out_ref, parts_ref):
    part = jnp.full((1024,), 0.0, jnp.float32)  # rms_norm.py:29

    def rows_body(rows, part_2):  # rms_norm.py:30
        rows_begin_2 = rows * 512  # rms_norm.py:31
        inverse = inverse_ref[pl.ds(pl.multiple_of(rows_begin_2, 512), 512)]  # rms_norm.py:31
        rstd = inverse.reshape((512, 1))  # rms_norm.py:31
        rows_begin_3 = rows * 512  # rms_norm.py:32
        x = x_ref[pl.ds(pl.multiple_of(rows_begin_3, 512), 512), :]  # rms_norm.py:32
        v_2 = jnp.broadcast_to(rstd, (512, 1024))  # rms_norm.py:32
        normal = x.astype(jnp.float32) * v_2  # rms_norm.py:32
        rows_begin_4 = rows * 512  # rms_norm.py:33
        grad = grad_ref[pl.ds(pl.multiple_of(rows_begin_4, 512), 512), :]  # rms_norm.py:33
        arriving = grad.astype(jnp.float32)  # rms_norm.py:33
        weight = weight_ref[...]  # rms_norm.py:34
        scaled = arriving * jnp.broadcast_to(weight.astype(jnp.float32), (512, 1024))  # rms_norm.py:34
        v_3 = jnp.broadcast_to(  # rms_norm.py:35
            jnp.sum(scaled * normal, axis=1).reshape((512, 1)) / 1024.0, (512, 1024)
        )
        rows_begin_5 = rows * 512  # rms_norm.py:35
        out_ref[  # rms_norm.py:35
            pl.ds(pl.multiple_of(rows_begin_5, 512), 512), :
        ] = ((scaled - normal * v_3) * v_2).astype(jnp.bfloat16)
        part_3 = part_2 + jnp.sum(arriving * normal, axis=0)  # rms_norm.py:36
        return part_3

    part_4 = jax.lax.fori_loop(0, 8, rows_body, part, unroll=2)  # rms_norm.py:30
    parts_ref[0, :] = part_4  # rms_norm.py:37


def rms_norm_backward(grad, x, weight, inverse):
    out, parts = pl.pallas_call(  # rms_norm.py:28
        rms_norm_backward_kernel,
        grid=(8,),
        in_specs=[
            pl.BlockSpec((4096,), lambda batch: (batch,)),
            pl.BlockSpec((4096, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((4096, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((1024,), lambda batch: (0,)),
        ],
        out_specs=[
            pl.BlockSpec((4096, 1024), lambda batch: (batch, 0)),
            pl.BlockSpec((None, 1, 1024), lambda batch: (batch, 0, 0)),
        ],
        out_shape=[jax.ShapeDtypeStruct((32768, 1024), jnp.bfloat16), jax.ShapeDtypeStruct((8, 1, 1024), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",), vmem_limit_bytes=130109440),
        name="rms_norm_backward",
    )(inverse, x, grad, weight)
    parts_2 = parts.reshape((8, 1024))  # rms_norm.py:28
    v = jnp.sum(parts_2, axis=tuple([0]), dtype=jnp.float32).reshape((1024,))  # rms_norm.py:38
    v_2 = v.astype(jnp.bfloat16)  # rms_norm.py:38
    return out, v_2
