"""Lines of emitted modules as they are collected."""

from __future__ import annotations

from kopt.lowering.writer import Writer


def test_gaps_are_single_and_stand_between_statements() -> None:
    writer = Writer()
    writer.gap()
    writer.line("f()")
    writer.gap()
    writer.gap()
    writer.line("def g():")
    writer.gap()
    writer.lines(["    h()", ""])
    writer.gap()
    writer.trim()
    assert writer.text() == "f()\n\ndef g():\n    h()\n"


def test_names_that_nothing_reads_are_left_out() -> None:
    """What only such a name reads goes too; names of another function, attributes and comments read nothing."""
    writer = Writer()
    with writer.block("def f(x):"):
        writer.assign("a", "x + 1")
        writer.assign("b", "a * 2")  # read by what nothing reads
        writer.assign("c", "b + 1")
        writer.assign("d", "x", comment="reads c")
        writer.assign("e", "d.a", annotation="int")
        writer.line("return e")
    with writer.block("def g(c):"):
        writer.assign("a", "1")
        writer.line("return c.a")
    assert (
        writer.text() == "def f(x):\n    d = x  # reads c\n    e: int = d.a\n    return e\ndef g(c):\n    return c.a\n"
    )


def guarded(*inside: str) -> str:
    """A function with a guarded one in it that assigns names, and returns ``a``."""
    writer = Writer()
    with writer.block("def f():"):
        writer.line("h()")
        writer.gap()
        writer.line("@pl.when(p)")
        with writer.block("def _():"):
            for name in inside:
                writer.assign(name, "1")
        writer.gap()
        writer.line("return a")
    return writer.text()


def test_guards_of_nothing_are_left_out() -> None:
    """With the condition that stands above them, and the gap behind."""
    assert guarded("b") == guarded("b", "c") == "def f():\n    h()\n\n    return a\n"
    assert guarded("a") == "def f():\n    h()\n\n    @pl.when(p)\n    def _():\n        a = 1\n\n    return a\n"
    assert guarded("a", "b") == guarded("a") == guarded("b", "a")


def test_comments_stand_once_in_a_row() -> None:
    writer = Writer()
    writer.comment("x.py:1")
    writer.comment("x.py:1")
    writer.line("f()")
    writer.comment("x.py:1")
    writer.comment("x.py:2")
    with writer.block("if p:"):
        writer.comment("x.py:2")
    assert writer.text() == "# x.py:1\nf()\n# x.py:1\n# x.py:2\nif p:\n    # x.py:2\n    pass\n"
