"""Flash attention: keys and values of a head stay in VMEM, row statistics fill whole registers, powers are of two.

Scores are scaled in f32, for scaled queries would be rounded to bf16 once more than the expression says. Causal
attention has a branch for each block of queries, with as many blocks of keys as that one needs: loops of a known
length, which libtpu counts. Only the block of keys on the diagonal is masked, and in a window the first ones too.
"""

from __future__ import annotations

import math
from functools import partial

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

LANES = 128


def _wide(stat: jax.Array, width: int) -> jax.Array:
    """A statistic in all lanes of a register, for each of ``width`` columns."""
    return stat if width == LANES else jnp.concatenate([stat] * (width // LANES), axis=1)


def _step(q, k, v, state, seen=None):
    """The state (largest, total, sum) after one block of keys."""
    largest, total, acc = state
    scores = jax.lax.dot_general(q, k, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)
    scores *= math.log2(math.e) / math.sqrt(q.shape[1])
    if seen is not None:
        scores = jnp.where(seen, scores, -jnp.inf)
    grown = jnp.maximum(largest, jnp.max(scores, axis=1, keepdims=True))
    weights = jnp.exp2(scores - _wide(grown, scores.shape[1]))
    shrink = jnp.exp2(largest - grown)
    total = total * shrink + jnp.sum(weights, axis=1, keepdims=True)
    acc = acc * _wide(shrink, acc.shape[1]) + jnp.dot(weights.astype(v.dtype), v, preferred_element_type=jnp.float32)
    return grown, total, acc


def _start(q_ref):
    """The queries, and the state before the first key."""
    rows, depth = q_ref.shape
    return q_ref[...], (
        jnp.full((rows, LANES), -1e30, jnp.float32),  # finite: the first keys may all be unseen
        jnp.zeros((rows, LANES), jnp.float32),
        jnp.zeros((rows, depth), jnp.float32),
    )


def _finish(out_ref, state):
    _, total, acc = state
    out_ref[...] = (acc * _wide(1.0 / total, acc.shape[1])).astype(out_ref.dtype)


def _keys(q, k_ref, v_ref, block, count, state, unroll):
    def body(n, state):
        at = pl.ds(pl.multiple_of(n * block, block), block)
        return _step(q, k_ref[at, :], v_ref[at, :], state)

    return jax.lax.fori_loop(0, count, body, state, unroll=unroll)


def _full(q_ref, k_ref, v_ref, out_ref, *, block, unroll):
    q, state = _start(q_ref)
    _finish(out_ref, _keys(q, k_ref, v_ref, block, k_ref.shape[0] // block, state, unroll))


def _causal(q_ref, k_ref, v_ref, out_ref, *, block, unroll):
    rows = q_ref.shape[0]

    def branch(number):
        q, state = _start(q_ref)
        before = number * rows
        state = _keys(q, k_ref, v_ref, block, before // block, state, unroll)
        if rest := before % block:
            at = slice(before - rest, before)
            state = _step(q, k_ref[at, :], v_ref[at, :], state)
        at = slice(before, before + rows)
        row = jax.lax.broadcasted_iota(jnp.int32, (rows, rows), 0)
        seen = row >= jax.lax.broadcasted_iota(jnp.int32, (rows, rows), 1)
        _finish(out_ref, _step(q, k_ref[at, :], v_ref[at, :], state, seen))

    for number in range(k_ref.shape[0] // rows):
        pl.when(pl.program_id(1) == number)(partial(branch, number))


def _window(q_ref, k_ref, v_ref, out_ref, *, block, unroll, window):
    rows = q_ref.shape[0]
    full = window // rows
    apart = jax.lax.broadcasted_iota(jnp.int32, (rows, block), 0) - jax.lax.broadcasted_iota(
        jnp.int32, (rows, block), 1
    )

    def branch(number, before):
        q, state = _start(q_ref)
        for ago in range(before, -rows, -block):  # how far the block of keys is before that of queries
            seen = (apart + ago >= 0) if ago < block - 1 else None
            if ago + rows > window:
                seen = apart + ago < window if seen is None else seen & (apart + ago < window)
            at = pl.ds(pl.multiple_of(number * rows - ago, block), block)
            state = _step(q, k_ref[at, :], v_ref[at, :], state, seen)
        _finish(out_ref, state)

    for number in range(full):
        pl.when(pl.program_id(1) == number)(partial(branch, number, number * rows))
    pl.when(pl.program_id(1) >= full)(lambda: branch(pl.program_id(1), window))


def _call(body, name, q, k, v, block_m, block_n, unroll):
    *heads, m, depth = q.shape
    count = math.prod(heads)
    q, k, v = (x.reshape(count, -1, depth) for x in (q, k, v))
    whole = pl.BlockSpec((None, k.shape[1], depth), lambda h, i: (h, 0, 0))
    rows = pl.BlockSpec((None, block_m, depth), lambda h, i: (h, i, 0))
    out = pl.pallas_call(
        partial(body, block=block_n, unroll=unroll),
        grid=(count, m // block_m),
        in_specs=[rows, whole, whole],
        out_specs=rows,
        out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype),
        compiler_params=pltpu.CompilerParams(
            dimension_semantics=("parallel", "arbitrary"), vmem_limit_bytes=100 * 2**20
        ),
        name=name,
    )(q, k, v)
    return out.reshape(*heads, m, depth)


def attention(q: jax.Array, k: jax.Array, v: jax.Array, block_m=1024, block_n=1024, unroll=4) -> jax.Array:
    """``softmax(q kᵀ / √d) v``; blocks divide their dimensions, and a head's keys and values fit in VMEM."""
    return _call(_full, "attention_by_hand", q, k, v, block_m, block_n, unroll)


def causal_attention(q: jax.Array, k: jax.Array, v: jax.Array, block_m=1024, block_n=1024, unroll=2) -> jax.Array:
    """The same where queries see no later keys; as many keys as queries."""
    return _call(_causal, "causal_attention_by_hand", q, k, v, block_m, block_n, unroll)


def window_attention(q: jax.Array, k: jax.Array, v: jax.Array, window=1024, block_m=512, block_n=512) -> jax.Array:
    """The same where queries see the last ``window`` keys only, of which there are whole blocks."""
    return _call(partial(_window, window=window), "window_attention_by_hand", q, k, v, block_m, block_n, 1)
