"""Emitted code assigns no name that it does not read."""

from __future__ import annotations

from kopt.lowering.unused import drop_unused

BEFORE = """def kernel(x_ref, out_ref):
    i = pl.program_id(0)
    a = i * 8
    b = 0 - a
    c = b + (
        1
    )
    first = i == 0

    @pl.when(first)
    def _():
        n = i * 4

    v = x_ref[...]
    w = _gather(x_ref, a)

    def body(k, acc):
        d = k * 2
        e = jnp.minimum(k, 3)
        return acc + e

    out_ref[...] = jax.lax.fori_loop(0, 4, body, 0)
    stored = jax.lax.fori_loop(0, 4, body, 0)


def f(x):
    unused = jnp.zeros((4,), jnp.float32)
    return x
"""

AFTER = """def kernel(x_ref, out_ref):
    i = pl.program_id(0)
    a = i * 8

    v = x_ref[...]
    w = _gather(x_ref, a)

    def body(k, acc):
        e = jnp.minimum(k, 3)
        return acc + e

    out_ref[...] = jax.lax.fori_loop(0, 4, body, 0)
    stored = jax.lax.fori_loop(0, 4, body, 0)


def f(x):
    return x
"""


def test_only_arithmetic_goes() -> None:
    """Reads of memory, and calls of loops and helpers, which may write or move data, stay."""
    assert drop_unused(BEFORE) == AFTER
