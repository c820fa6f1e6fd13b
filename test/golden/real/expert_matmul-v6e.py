"""expert_matmul: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def expert_matmul_kernel(experts_ref, x_ref, weights_ref, out_ref):
    acc = jnp.full((128, 768), 0.0, jnp.float32)  # packed.py:73
    x = x_ref[...]  # packed.py:75
    weights = weights_ref[...]  # packed.py:75
    inside = jax.lax.broadcasted_iota(jnp.int32, (128, 1024), 1) < 1000  # packed.py:75
    inside_2 = jax.lax.broadcasted_iota(jnp.int32, (1024, 768), 0) < 1000  # packed.py:75
    acc_2 = acc + jnp.dot(  # packed.py:75
        jnp.where(inside, x.T, 0.0), jnp.where(inside_2, weights, 0.0), preferred_element_type=jnp.float32
    )
    out_ref[...] = acc_2.astype(jnp.bfloat16)  # packed.py:76


def expert_matmul(x, weights, experts):
    x_2 = jnp.transpose(x, (1, 0))  # packed.py:71
    out = pl.pallas_call(  # packed.py:71
        expert_matmul_kernel,
        grid_spec=pltpu.PrefetchScalarGridSpec(
            num_scalar_prefetch=1,
            grid=(32, 1),
            in_specs=[
                pl.BlockSpec((1024, 128), lambda m, n, experts: (0, m)),
                pl.BlockSpec((None, 1024, 768), lambda m, n, experts: (experts[m], 0, n)),
            ],
            out_specs=pl.BlockSpec((128, 768), lambda m, n, experts: (m, n)),
        ),
        out_shape=jax.ShapeDtypeStruct((4096, 768), jnp.bfloat16),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="expert_matmul",
    )(experts, x_2, weights)
    return out
