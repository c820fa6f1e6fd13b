"""bmm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def bmm_kernel(x_ref, y_ref, out_ref):
    acc = jnp.full((1, 32, 128), 0.0, jnp.float32)  # bmm.py:15

    def tile_k_body(tile_k, acc_2):  # bmm.py:16
        tile_k_begin = tile_k * 128  # bmm.py:16
        x = x_ref[:, :, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # bmm.py:17
        y = y_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128), :]  # bmm.py:17
        inside = jax.lax.broadcasted_iota(jnp.int32, (1, 32, 128), 2) < 300 - tile_k_begin  # bmm.py:17
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (1, 128, 128), 1) < 300 - tile_k_begin  # bmm.py:17
        acc_3 = acc_2 + jax.lax.dot_general(  # bmm.py:17
            jnp.where(inside, x, 0.0),
            jnp.where(inside_2, y, 0.0),
            (((2,), (1,)), ((0,), (0,))),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 3, tile_k_body, acc, unroll=3)  # bmm.py:16
    out_ref[...] = acc_4  # bmm.py:18


def bmm(x, y):
    out = pl.pallas_call(  # bmm.py:14
        bmm_kernel,
        grid=(3, 3, 3),
        in_specs=[
            pl.BlockSpec((1, 32, 384), lambda tile_b, tile_n, tile_m: (tile_b, tile_m, 0)),
            pl.BlockSpec((1, 384, 128), lambda tile_b, tile_n, tile_m: (tile_b, 0, tile_n)),
        ],
        out_specs=pl.BlockSpec((1, 32, 128), lambda tile_b, tile_n, tile_m: (tile_b, tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((3, 75, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "parallel")),
        name="bmm",
    )(x, y)
    return out
