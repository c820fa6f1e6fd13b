"""Functions of the elements of matrices, in blocks of whole rows that take the memory's bandwidth."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _add(x_ref, y_ref, out_ref):
    out_ref[...] = x_ref[...] + y_ref[...]


def _swiglu(gate_ref, up_ref, out_ref):
    opened = gate_ref[...].astype(jnp.float32)
    out_ref[...] = (opened * jax.nn.sigmoid(opened)).astype(out_ref.dtype) * up_ref[...]


def _geglu(gate_ref, up_ref, out_ref):
    opened = gate_ref[...].astype(jnp.float32)
    out_ref[...] = jax.nn.gelu(opened, approximate=True).astype(out_ref.dtype) * up_ref[...]


def _call(body, name, x, y, rows):
    m, n = x.shape
    block = pl.BlockSpec((rows, n), lambda i: (i, 0))
    return pl.pallas_call(
        body,
        grid=(m // rows,),
        in_specs=[block, block],
        out_specs=block,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name=name,
    )(x, y)


def add(x: jax.Array, y: jax.Array, rows: int = 256) -> jax.Array:
    """``x + y``; ``rows`` divides their number, here and below."""
    return _call(_add, "add_by_hand", x, y, rows)


def swiglu(gate: jax.Array, up: jax.Array, rows: int = 256) -> jax.Array:
    """``silu(gate) * up``."""
    return _call(_swiglu, "swiglu_by_hand", gate, up, rows)


def geglu(gate: jax.Array, up: jax.Array, rows: int = 256) -> jax.Array:
    """``gelu(gate) * up``, in GELU's form with a tanh."""
    return _call(_geglu, "geglu_by_hand", gate, up, rows)
