"""split_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def split_matmul_kernel(x_ref, y_ref, out_ref, out_acc_ref):
    outer = pl.program_id(2)

    @pl.when(outer == 0)  # split_k.py:19
    def _():
        out_acc_ref[...] = jnp.full((256, 512), 0.0, jnp.float32)  # split_k.py:19

    acc = jnp.full((256, 512), 0.0, jnp.float32)  # split_k.py:16
    x = x_ref[...]  # split_k.py:18
    y = y_ref[...]  # split_k.py:18
    acc_2 = acc + jnp.dot(x, y, preferred_element_type=jnp.float32)  # split_k.py:18
    old = out_acc_ref[...]  # split_k.py:19
    new = old + acc_2  # split_k.py:19
    out_acc_ref[...] = new  # split_k.py:19

    @pl.when(outer == 3)  # split_k.py:19
    def _():
        out = out_acc_ref[...]  # split_k.py:19
        out_2 = out.astype(jnp.bfloat16)  # split_k.py:19
        out_ref[...] = out_2  # split_k.py:19


def split_matmul(x, y):
    out = pl.pallas_call(  # split_k.py:15
        split_matmul_kernel,
        grid=(1, 1, 4),
        in_specs=[
            pl.BlockSpec((256, 2048), lambda tile_m, tile_n, outer: (tile_m, outer)),
            pl.BlockSpec((2048, 512), lambda tile_m, tile_n, outer: (outer, tile_n)),
        ],
        out_specs=pl.BlockSpec((256, 512), lambda tile_m, tile_n, outer: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((256, 512), jnp.bfloat16),
        scratch_shapes=[pltpu.VMEM((256, 512), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary")),
        name="split_matmul",
    )(x, y)
    return out
