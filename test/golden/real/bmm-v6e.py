"""bmm: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def bmm_kernel(x_ref, y_ref, out_ref):
    acc = jnp.full((2, 512, 1024), 0.0, jnp.float32)  # bmm.py:15
    x = x_ref[...]  # bmm.py:17
    y = y_ref[...]  # bmm.py:17
    acc_2 = acc + jax.lax.dot_general(  # bmm.py:17
        x, jnp.transpose(y, (0, 2, 1)), (((2,), (1,)), ((0,), (0,))), preferred_element_type=jnp.float32
    )
    out_ref[...] = jnp.transpose(acc_2.astype(jnp.bfloat16), (0, 2, 1))  # bmm.py:18


def bmm(x, y):
    y_2 = jnp.transpose(y, (0, 2, 1))  # bmm.py:14
    out = pl.pallas_call(  # bmm.py:14
        bmm_kernel,
        grid=(8, 1, 1),
        in_specs=[
            pl.BlockSpec((2, 512, 768), lambda tile_b, tile_m, tile_n: (tile_b, tile_m, 0)),
            pl.BlockSpec((2, 1024, 768), lambda tile_b, tile_m, tile_n: (tile_b, tile_n, 0)),
        ],
        out_specs=pl.BlockSpec((2, 1024, 512), lambda tile_b, tile_m, tile_n: (tile_b, tile_n, tile_m)),
        out_shape=jax.ShapeDtypeStruct((16, 1000, 512), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel", "parallel"), vmem_limit_bytes=67108864
        ),
        name="bmm",
    )(x, y_2)
    out_2 = jnp.transpose(out, (0, 2, 1))  # bmm.py:14
    return out_2
