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
