"""Modules that Mosaic refuses, each for its own reason."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl


def _call(body, x, rows, name):
    return pl.pallas_call(
        body,
        grid=(x.shape[0] // rows,),
        in_specs=[pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((rows, x.shape[1]), lambda i: (i, 0)),
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        name=name,
    )(x)


def _copy(x_ref, out_ref):
    out_ref[...] = x_ref[...]  # copy.py:7


def copy(x):
    return _call(_copy, x, 64, name="copy_0")


def odd_blocks(x):
    return _call(_copy, x, 12, name="odd_0")


def _sort(x_ref, out_ref):
    out_ref[...] = jnp.sort(x_ref[...], axis=1)  # sort.py:12:5


def sort(x):
    return _call(_sort, x, 64, name="sort_0")


def two(x):
    return copy(copy(jnp.pad(x, ((0, 0), (0, 28)))))
