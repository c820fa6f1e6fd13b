"""Small functions for the runtime's rules: 64-bit integers, bools, mutation, races, unwritten memory, hangs."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _add_one(x_ref, out_ref):
    out_ref[...] = x_ref[...] + 1


def add_one(x):
    return pl.pallas_call(_add_one, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), name="add_one")(x)


def _invert(x_ref, out_ref):
    out_ref[...] = ~x_ref[...]


def invert(x):
    return pl.pallas_call(_invert, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), name="invert")(x)


def bump_and_sum(x, y):
    new = add_one(x)
    return jnp.sum(new) + jnp.sum(y), new


def _largest(x_ref, out_ref):
    out_ref[...] = jnp.max(x_ref[...], axis=1, keepdims=True) + jnp.zeros_like(x_ref)


def largest(x):
    return pl.pallas_call(_largest, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), name="largest")(x)


def swap(x, y):
    return x, y, x


def nothing(x):
    return None


def _racing(x_ref, out_ref):
    out_ref[...] = x_ref[...]  # racing.py:4


def racing(x):
    return pl.pallas_call(
        _racing,
        grid=(8,),
        in_specs=[pl.BlockSpec((8, 128), lambda i: (i, 0))],
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
        name="racing_0",
    )(x)


def _stale(x_ref, out_ref, scratch_ref):
    out_ref[...] = x_ref[...] + scratch_ref[...]


def stale(x):
    return pl.pallas_call(
        _stale,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.VMEM(x.shape, x.dtype)],
        name="stale_0",
    )(x)


def _hanging(x_ref, out_ref, semaphore):
    pl.semaphore_wait(semaphore, 1)
    out_ref[...] = x_ref[...]


def hanging(x):
    return pl.pallas_call(
        _hanging,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        scratch_shapes=[pltpu.SemaphoreType.REGULAR],
        name="hanging_0",
    )(x)


def _outside(x_ref, out_ref):
    out_ref[...] = x_ref[pl.ds(pl.program_id(0) * 8 + 1024, 8), :]  # outside.py:3


def outside(x):
    return pl.pallas_call(
        _outside,
        grid=(1,),
        out_specs=pl.BlockSpec((8, 128), lambda i: (0, 0)),
        out_shape=jax.ShapeDtypeStruct((8, 128), x.dtype),
        name="outside_0",
    )(x)


def _pipelined(x_hbm, out_hbm):
    def body(x_ref, out_ref):
        out_ref[...] = x_ref[...] * 2

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    pltpu.emit_pipeline(body, grid=(x_hbm.shape[0] // 8,), in_specs=[spec], out_specs=[spec])(x_hbm, out_hbm)


def pipelined(x):
    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    return pl.pallas_call(
        _pipelined,
        in_specs=[anywhere],
        out_specs=anywhere,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        name="pipelined_0",
    )(x)


def bump(x):
    return add_one(x)


def bump_both(x, y):
    return add_one(x), add_one(y)


def bump_twice(x):
    new = add_one(x)
    return new, new


def assign(x, y):
    return y
