"""topk: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _shift(x, step, axis, reverse=False):
    """Each lane takes the one ``step`` lanes before it (with ``reverse`` after it); the first ones take any."""
    size = x.shape[axis]
    if reverse:
        parts = [jax.lax.slice_in_dim(x, step, size, axis=axis), jax.lax.slice_in_dim(x, 0, step, axis=axis)]
    else:
        parts = [jax.lax.slice_in_dim(x, size - step, size, axis=axis)]
        parts += [jax.lax.slice_in_dim(x, 0, size - step, axis=axis)]
    return jnp.concatenate(parts, axis=axis)


def _precedes(a, m, b, n, descending):
    """Whether lane ``m`` with value ``a`` comes before lane ``n`` with ``b``: NaN is above all, equals keep order."""
    below, equal = a < b, a == b
    if jnp.issubdtype(a.dtype, jnp.floating):
        below, equal = below | ((b != b) & (a == a)), equal | ((a != a) & (b != b))
    first = ~(below | equal) if descending else below
    return first | (equal & (m < n))


def _sort(x, axis, descending, last):
    """The lanes of one dimension in order, and the number that each had: a bitonic network of compare and exchange.

    ``last`` is a value that comes after every other.
    """
    if x.ndim == 1:
        values, lanes = _sort(x[None, :], 1, descending, last)
        return values[0], lanes[0]
    size = x.shape[axis]
    width = 1 << (size - 1).bit_length()
    if width > size:
        shape = [*x.shape[:axis], width - size, *x.shape[axis + 1 :]]
        x = jnp.concatenate([x, jnp.full(shape, last, x.dtype)], axis=axis)
    lane = jax.lax.broadcasted_iota(jnp.int32, x.shape, axis)

    def exchange(step, run, x, numbers):
        low = (lane & step) == 0
        other, number = (
            jnp.where(low, _shift(v, step, axis, reverse=True), _shift(v, step, axis)) for v in (x, numbers)
        )
        stays = _precedes(x, numbers, other, number, descending)
        # The lower lane of a pair takes what comes first, but in every second run what comes last.
        keep = ~(stays ^ (low ^ ((lane & run) != 0)))
        return jnp.where(keep, x, other), jnp.where(keep, numbers, number)

    def merge(n, state):
        # One branch a step: else XLA's CPU compiler writes every step out again wherever a later one uses it.
        run = jnp.left_shift(jnp.int32(2), n)
        for step in (1 << n for n in reversed(range(width.bit_length() - 1))):
            state = jax.lax.cond(step < run, lambda *s, at=step: exchange(at, run, *s), lambda *s: s, *state)
        return state

    x, numbers = jax.lax.fori_loop(0, width.bit_length() - 1, merge, (x, lane))
    return tuple(jax.lax.slice_in_dim(v, 0, size, axis=axis) for v in (x, numbers))


def topk_kernel(x_ref, values_ref, places_ref):
    x = x_ref[...]  # topk.py:16
    v, v_2 = _sort(x.T.astype(jnp.float32), 1, True, -jnp.inf)  # topk.py:16
    values_ref[...] = v.astype(jnp.bfloat16)[:, 0:4].T  # topk.py:16
    places_ref[...] = v_2[:, 0:4].T  # topk.py:16


def topk(x):
    x_2 = jnp.transpose(x, (1, 0))  # topk.py:15
    with jax.enable_x64(False):
        values, places = pl.pallas_call(  # topk.py:15
            topk_kernel,
            grid=(32,),
            in_specs=[pl.BlockSpec((64, 128), lambda rows: (0, rows))],
            out_specs=[pl.BlockSpec((4, 128), lambda rows: (0, rows)), pl.BlockSpec((4, 128), lambda rows: (0, rows))],
            out_shape=[jax.ShapeDtypeStruct((4, 4096), jnp.bfloat16), jax.ShapeDtypeStruct((4, 4096), jnp.int32)],
            compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel",)),
            name="topk",
        )(x_2)
    places_2 = jnp.transpose(places.astype(jnp.int64), (1, 0))  # topk.py:15
    values_2 = jnp.transpose(values, (1, 0))  # topk.py:15
    return values_2, places_2
