"""Emitted code assigns no name that it does not read."""

from __future__ import annotations

from kopt.lowering.writer import Writer

LONG = ", ".join(["k"] * 36)

WANTED = """def kernel(x_ref, out_ref):
    a = i * 8  # c

    v = x_ref[...]

    def body(k, acc):
        e = jnp.minimum(
            LONG
        )
        return acc + e

    out_ref[...] = jax.lax.fori_loop(0, 4, body, c=a)
    stored = jax.lax.fori_loop(0, 4, body, 0)


def f(x):
    return x.c
""".replace("LONG", LONG)


def test_what_nothing_reads_goes() -> None:
    """And so does what only that reads, and a guard of nothing else; other statements stay."""
    writer = Writer()
    with writer.block("def kernel(x_ref, out_ref):"):
        writer.assign("b", "0 - i")
        writer.gap()
        writer.line("a = i * 8  # c")
        writer.assign("c", f"b + jnp.maximum({LONG})")
        writer.assign("first", "i == 0")
        writer.gap()
        writer.line("@pl.when(first)")
        with writer.block("def _():"):
            writer.assign("n", "i * 4")
        writer.gap()
        writer.line("v = x_ref[...]")
        writer.gap()
        with writer.block("def body(k, acc):"):
            writer.assign("d", "k * 2")
            writer.gap()
            writer.assign("e", f"jnp.minimum({LONG})")
            writer.line("return acc + e")
        writer.gap()
        writer.line("out_ref[...] = jax.lax.fori_loop(0, 4, body, c=a)")
        writer.line("stored = jax.lax.fori_loop(0, 4, body, 0)")
    writer.lines(["", ""])
    with writer.block("def f(x):"):
        writer.assign("c", "jnp.zeros((4,), jnp.float32)")
        writer.assign("a", "1")
        writer.line("return x.c")
    assert writer.text() == WANTED
