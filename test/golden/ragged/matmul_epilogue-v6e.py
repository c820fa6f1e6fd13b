"""matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def matmul_kernel(x_ref, y_ref, hidden_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # matmul.py:19

    def tile_k_body(tile_k, acc_2):  # matmul.py:20
        tile_k_begin = tile_k * 128  # matmul.py:20
        x = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # matmul.py:21
        y = y_ref[pl.ds(pl.multiple_of(tile_k_begin, 128), 128), :]  # matmul.py:21
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 300 - tile_k_begin  # matmul.py:21
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # matmul.py:21
        acc_3 = acc_2 + jnp.dot(  # matmul.py:21
            jnp.where(inside, x, 0.0),
            jnp.where(inside_2, y, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_k_body, acc, unroll=3)  # matmul.py:20
    hidden = hidden_ref[...]  # matmul.py:48
    v = acc_4 + jnp.broadcast_to(hidden, (32, 128))  # matmul.py:48
    v_2 = jnp.where(v < 0.0, 0.0, v)  # matmul.py:48
    out_ref[...] = v_2  # matmul.py:22


def matmul(x, y, hidden):
    out = pl.pallas_call(  # matmul.py:18
        matmul_kernel,
        grid=(3, 3),
        in_specs=[
            pl.BlockSpec((32, 384), lambda tile_n, tile_m: (tile_m, 0)),
            pl.BlockSpec((384, 128), lambda tile_n, tile_m: (0, tile_n)),
            pl.BlockSpec((128,), lambda tile_n, tile_m: (tile_n,)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_m: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="matmul",
    )(x, y, hidden)
    return out
