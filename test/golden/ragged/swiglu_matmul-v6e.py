"""swiglu_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def swiglu_matmul_kernel(x_ref, gate_ref, up_ref, out_ref):
    opened = jnp.full((32, 128), 0.0, jnp.float32)  # gated.py:70

    def tile_k_body(tile_k, carry):  # gated.py:72
        lifted, opened_2 = carry
        tile_k_begin = tile_k * 128  # gated.py:72
        rows = x_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # gated.py:73
        gate = gate_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # gated.py:74
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 300 - tile_k_begin  # gated.py:74
        rows_2 = jnp.where(inside, rows, 0.0)  # gated.py:74
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # gated.py:74
        opened_3 = opened_2 + jnp.dot(  # gated.py:74
            rows_2,
            jnp.where(inside_2, gate.T, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        up = up_ref[:, pl.ds(pl.multiple_of(tile_k_begin, 128), 128)]  # gated.py:75
        inside_3 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 300 - tile_k_begin  # gated.py:75
        lifted_2 = lifted + jnp.dot(  # gated.py:75
            rows_2,
            jnp.where(inside_3, up.T, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return (lifted_2, opened_3)

    lifted_3, opened_4 = jax.lax.fori_loop(0, 3, tile_k_body, (opened, opened), unroll=3)  # gated.py:72
    out_ref[...] = opened_4 * jax.nn.sigmoid(opened_4) * lifted_3  # gated.py:76


def swiglu_matmul(x, gate, up):
    gate_2 = jnp.transpose(gate, (1, 0))  # gated.py:69
    up_2 = jnp.transpose(up, (1, 0))  # gated.py:69
    out = pl.pallas_call(  # gated.py:69
        swiglu_matmul_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((32, 384), lambda tile_n, tile_m: (tile_m, 0)),
            pl.BlockSpec((128, 384), lambda tile_n, tile_m: (tile_n, 0)),
            pl.BlockSpec((128, 384), lambda tile_n, tile_m: (tile_n, 0)),
        ],
        out_specs=pl.BlockSpec((32, 128), lambda tile_n, tile_m: (tile_m, tile_n)),
        out_shape=jax.ShapeDtypeStruct((35, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="swiglu_matmul",
    )(x, gate_2, up_2)
    return out
