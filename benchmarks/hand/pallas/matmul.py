"""Products of matrices: the inner dimension comes at once, or where it is long, in blocks that are added up in VMEM."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _product(x_ref, y_ref, out_ref):
    out_ref[...] = jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32).astype(out_ref.dtype)


def _sum_of_products(x_ref, y_ref, out_ref, acc_ref):
    @pl.when(pl.program_id(0) == 0)
    def _():
        acc_ref[...] = jnp.zeros_like(acc_ref)

    acc_ref[...] += jnp.dot(x_ref[...], y_ref[...], preferred_element_type=jnp.float32)

    @pl.when(pl.program_id(0) == pl.num_programs(0) - 1)
    def _():
        out_ref[...] = acc_ref[...].astype(out_ref.dtype)


def _swiglu(x_ref, gate_ref, up_ref, out_ref):
    opened, lifted = (jnp.dot(x_ref[...], ref[...], preferred_element_type=jnp.float32) for ref in (gate_ref, up_ref))
    out_ref[...] = (opened * jax.nn.sigmoid(opened) * lifted).astype(out_ref.dtype)


def _call(body, name, x, factors, rows, columns):
    """A product of ``x`` with each of the factors, block by block of the result."""
    m, k = x.shape
    n = factors[0].shape[1]
    factor = pl.BlockSpec((k, columns), lambda i, j: (0, j))
    return pl.pallas_call(
        body,
        grid=(m // rows, n // columns),
        in_specs=[pl.BlockSpec((rows, k), lambda i, j: (i, 0)), *[factor for _ in factors]],
        out_specs=pl.BlockSpec((rows, columns), lambda i, j: (i, j)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "parallel"), vmem_limit_bytes=100 * 2**20
        ),
        name=name,
    )(x, *factors)


def matmul(x: jax.Array, y: jax.Array, rows: int = 1024, columns: int = 1024) -> jax.Array:
    """``x @ y``; both blocks divide their dimensions."""
    return _call(_product, "matmul_by_hand", x, (y,), rows, columns)


def swiglu_matmul(x: jax.Array, gate: jax.Array, up: jax.Array, rows: int = 1024, columns: int = 512) -> jax.Array:
    """``silu(x @ gate) * (x @ up)``; both blocks divide their dimensions."""
    return _call(_swiglu, "swiglu_matmul_by_hand", x, (gate, up), rows, columns)


def deep_matmul(x: jax.Array, y: jax.Array, inner: int = 2048) -> jax.Array:
    """``x @ y`` whose result stays in VMEM; ``inner`` divides the inner dimension."""
    m, k = x.shape
    n = y.shape[1]
    return pl.pallas_call(
        _sum_of_products,
        grid=(k // inner,),
        in_specs=[pl.BlockSpec((m, inner), lambda i: (0, i)), pl.BlockSpec((inner, n), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((m, n), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((m, n), x.dtype),
        scratch_shapes=[pltpu.VMEM((m, n), jnp.float32)],
        compiler_params=pltpu.CompilerParams(dimension_semantics=("arbitrary",)),
        name="deep_matmul_by_hand",
    )(x, y)


def bmm(x: jax.Array, y: jax.Array) -> jax.Array:
    """The product of each pair of matrices, a pair a step."""
    batch, m, k = x.shape
    n = y.shape[2]
    x_block, y_block, out_block = (
        pl.BlockSpec((None, *shape), lambda b: (b, 0, 0)) for shape in ((m, k), (k, n), (m, n))
    )
    return pl.pallas_call(
        _product,
        grid=(batch,),
        in_specs=[x_block, y_block],
        out_specs=out_block,
        out_shape=jax.ShapeDtypeStruct((batch, m, n), x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="bmm_by_hand",
    )(x, y)
