"""add_row: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def add_row_kernel(x_ref, row_ref, out_ref):
    x = x_ref[...]  # add.py:23
    row = row_ref[...]  # add.py:23
    v = row.astype(jnp.float32).astype(jnp.bfloat16).astype(jnp.float32)  # add.py:23
    out_ref[...] = (x.astype(jnp.float32) + jnp.broadcast_to(v, (4096, 512))).astype(jnp.bfloat16)  # add.py:23


def add_row(x, row):
    out = pl.pallas_call(  # add.py:22
        add_row_kernel,
        grid=(1, 5),
        in_specs=[
            pl.BlockSpec((4096, 512), lambda tile_m, tile_n: (tile_m, tile_n)),
            pl.BlockSpec((512,), lambda tile_m, tile_n: (tile_n,)),
        ],
        out_specs=pl.BlockSpec((4096, 512), lambda tile_m, tile_n: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((4096, 2560), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=83894272),
        name="add_row",
    )(x, row)
    return out
