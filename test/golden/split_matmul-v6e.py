"""split_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def split_matmul_kernel(x_ref, y_ref, out_ref, acc_ref, out_acc_ref):
    outer = pl.program_id(2)
    tile_k = pl.program_id(3)

    @pl.when((outer == 0) & (tile_k == 0))  # split_k.py:19
    def _():
        out_acc_ref[...] = jnp.full((256, 512), 0.0, jnp.float32)  # split_k.py:19

    @pl.when(tile_k == 0)  # split_k.py:17
    def _():
        acc = jnp.full((256, 512), 0.0, jnp.float32)  # split_k.py:16
        acc_ref[...] = acc  # split_k.py:17

    acc_2 = acc_ref[...]  # split_k.py:17
    x = x_ref[...]  # split_k.py:18
    y = y_ref[...]  # split_k.py:18
    acc_3 = acc_2 + jnp.dot(x, y, preferred_element_type=jnp.float32)  # split_k.py:18
    acc_ref[...] = acc_3  # split_k.py:17

    @pl.when(tile_k == 1)  # split_k.py:17
    def _():
        acc_4 = acc_ref[...]  # split_k.py:17
        old = out_acc_ref[...]  # split_k.py:19
        new = old + acc_4  # split_k.py:19
        out_acc_ref[...] = new  # split_k.py:19

    @pl.when((outer == 3) & (tile_k == 1))  # split_k.py:19
    def _():
        out = out_acc_ref[...]  # split_k.py:19
        out_2 = out.astype(jnp.bfloat16)  # split_k.py:19
        out_ref[...] = out_2  # split_k.py:19


def split_matmul(x, y):
    out = pl.pallas_call(  # split_k.py:15
        split_matmul_kernel,
        grid=(1, 1, 4, 2),
        in_specs=[
            pl.BlockSpec((256, 1024), lambda tile_m, tile_n, outer, tile_k: (tile_m, tile_k + outer * 2)),
            pl.BlockSpec((1024, 512), lambda tile_m, tile_n, outer, tile_k: (tile_k + outer * 2, tile_n)),
        ],
        out_specs=pl.BlockSpec((256, 512), lambda tile_m, tile_n, outer, tile_k: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((256, 512), jnp.bfloat16),
        scratch_shapes=[pltpu.VMEM((256, 512), jnp.float32), pltpu.VMEM((256, 512), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel", "arbitrary", "arbitrary")),
        name="split_matmul",
    )(x, y)
    return out
