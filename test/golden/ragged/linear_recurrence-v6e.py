"""linear_recurrence: Pallas kernels for TPU, emitted by kopt."""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu


def _has_row_groups(x):
    """Whether a matrix is whole vector registers of 8 rows, whose rows can be rotated."""
    return x.ndim == 2 and x.shape[0] % 8 == 0 and x.shape[1] % 128 == 0


def _scan_rows(combine, arrays, reverse):
    """The running combination down the rows, 8 at a time: by rotations, then the last row of the 8 before comes in."""
    size, width = arrays[0].shape
    row = jax.lax.broadcasted_iota(jnp.int32, (8, width), 0)
    before, found = None, []
    for first in range(size - 8, -1, -8) if reverse else range(0, size, 8):
        group = [x[first : first + 8] for x in arrays]
        for step in (1, 2, 4):
            some = row < 8 - step if reverse else row >= step
            combined = combine(*(pltpu.roll(x, 8 - step if reverse else step, 0) for x in group), *group)
            group = [jnp.where(some, new, old) for new, old in zip(combined, group, strict=True)]
        if before is not None:
            combined = combine(*(jnp.broadcast_to(x, row.shape) for x in before), *group)
            group = [jnp.broadcast_to(x, row.shape) for x in combined]
        before = [x[:1] if reverse else x[7:] for x in group]
        found.append(group)
    return tuple(jnp.concatenate(parts[::-1] if reverse else parts, axis=0) for parts in zip(*found, strict=True))


def _shift(x, step, axis, reverse=False):
    """Each lane takes the one ``step`` lanes before it (with ``reverse`` after it); the first ones take any."""
    size = x.shape[axis]
    if reverse:
        parts = [jax.lax.slice_in_dim(x, step, size, axis=axis), jax.lax.slice_in_dim(x, 0, step, axis=axis)]
    else:
        parts = [jax.lax.slice_in_dim(x, size - step, size, axis=axis)]
        parts += [jax.lax.slice_in_dim(x, 0, size - step, axis=axis)]
    return jnp.concatenate(parts, axis=axis)


def _associative_scan(combine, arrays, axis, reverse=False):
    """The running combination of tuples by a function, in steps that double; lanes with nothing before them stay."""
    if arrays[0].ndim == 1:
        rows = _associative_scan(combine, [x[None, :] for x in arrays], 1, reverse)
        return tuple(row[0] for row in rows)
    if axis == 0 and _has_row_groups(arrays[0]):
        return _scan_rows(combine, arrays, reverse)
    size, step = arrays[0].shape[axis], 1
    lane = jax.lax.broadcasted_iota(jnp.int32, arrays[0].shape, axis)
    while step < size:
        some = lane < size - step if reverse else lane >= step
        combined = combine(*(_shift(x, step, axis, reverse) for x in arrays), *arrays)
        arrays = [jnp.where(some, new, old) for new, old in zip(combined, arrays, strict=True)]
        step *= 2
    return tuple(arrays)


def linear_recurrence_kernel(decay_ref, x_ref, out_ref):
    state = jnp.full((128,), 0.0, jnp.float32)  # scans.py:29

    def tile_t_body(tile_t, state_2):  # scans.py:30
        tile_t_begin = tile_t * 32  # scans.py:30
        decay = decay_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # scans.py:31
        x = x_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :]  # scans.py:31

        def combine(first_left, first_added, left, added):  # scans.py:32
            v = first_left * left  # scans.py:42
            v_2 = first_added * left + added  # scans.py:42
            return (v, v_2)

        left_2, added_2 = _associative_scan(combine, (decay, x), 0)  # scans.py:32
        v_3 = left_2 * jnp.broadcast_to(state_2.reshape((1, 128)), (32, 128))  # scans.py:33
        rows = v_3 + added_2  # scans.py:33
        out_ref[pl.ds(pl.multiple_of(tile_t_begin, 32), 32), :] = rows  # scans.py:34
        v_4 = tile_t_begin + jax.lax.broadcasted_iota(jnp.int32, (32,), 0)  # scans.py:35
        v_5 = jnp.asarray(jnp.minimum(tile_t_begin + 32, 75) - 1, jnp.int32)  # scans.py:35
        v_6 = jnp.broadcast_to(  # scans.py:36
            (v_4.reshape((32, 1)) == jnp.broadcast_to(v_5, (32, 1))).astype(jnp.int32), (32, 128)
        ) != 0
        inside = jax.lax.broadcasted_iota(jnp.int32, (32, 128), 0) < 75 - tile_t_begin  # scans.py:36
        state_3 = jnp.sum(jnp.where(inside, jnp.where(v_6, rows, 0.0), 0.0), axis=0)  # scans.py:36
        return state_3

    state_4 = jax.lax.fori_loop(0, 3, tile_t_body, state, unroll=3)  # scans.py:30


def linear_recurrence(decay, x):
    out = pl.pallas_call(  # scans.py:27
        linear_recurrence_kernel,
        grid=(2, 2),
        in_specs=[
            pl.BlockSpec((None, 96, 128), lambda tile_b, tile_w: (tile_b, 0, tile_w)),
            pl.BlockSpec((None, 96, 128), lambda tile_b, tile_w: (tile_b, 0, tile_w)),
        ],
        out_specs=pl.BlockSpec((None, 96, 128), lambda tile_b, tile_w: (tile_b, 0, tile_w)),
        out_shape=jax.ShapeDtypeStruct((2, 75, 200), jnp.float32),
        compiler_params=pltpu.CompilerParams(dimension_semantics=("parallel", "parallel")),
        name="linear_recurrence",
    )(decay, x)
    return out
