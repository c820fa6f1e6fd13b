"""expert_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def expert_matmul_kernel(experts_ref, x_ref, weights_ref, out_ref):
    acc = jnp.full((32, 128), 0.0, jnp.float32)  # packed.py:73

    def k_body(k, acc_2):  # packed.py:74
        k_begin = k * 128  # packed.py:74
        x = x_ref[:, pl.ds(pl.multiple_of(k_begin, 128), 128)]  # packed.py:75
        weights = weights_ref[pl.ds(pl.multiple_of(k_begin, 128), 128), :]  # packed.py:75
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 1) < 200 - k_begin  # packed.py:75
        inside_2 = jax.lax.broadcasted_iota(jnp.int32, (128, 128), 0) < 200 - k_begin  # packed.py:75
        acc_3 = acc_2 + jnp.dot(  # packed.py:75
            jnp.where(inside, x, 0.0),
            jnp.where(inside_2, weights, 0.0),
            precision=jax.lax.Precision.HIGHEST,
            preferred_element_type=jnp.float32,
        )
        return acc_3

    acc_4 = jax.lax.fori_loop(0, 2, k_body, acc, unroll=2)  # packed.py:74
    out_ref[...] = acc_4  # packed.py:76


def expert_matmul(x, weights, experts):
    out = pl.pallas_call(  # packed.py:71
        expert_matmul_kernel,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(3, 7),
            in_specs=[
                pl.BlockSpec((32, 256), lambda n, m, experts: (m, 0)),
                pl.BlockSpec((None, 256, 128), lambda n, m, experts: (experts[m], 0, n)),
            ],
            out_specs=pl.BlockSpec((32, 128), lambda n, m, experts: (m, n)),
        ),
        out_shape=jax.ShapeDtypeStruct((224, 333), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="expert_matmul",
    )(experts, x, weights)
    return out
