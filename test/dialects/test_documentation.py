"""Docstrings of ops as Markdown."""

from __future__ import annotations

import pytest

from kopt.dialects.documentation import markdown, summary


@pytest.mark.parametrize(
    ("doc", "wanted"),
    [
        ("Words.", "Words."),
        (None, ""),
        ("Words.\n\n    %a = tile.neg %b : x\n\nMore.", "Words.\n\n```mlir\n%a = tile.neg %b : x\n```\n\nMore."),
        ("Words.\n\n%a = tile.neg %b : x\nMore.", "Words.\n\n```mlir\n%a = tile.neg %b : x\n```\n\nMore."),
        ("Words.\n\n    %a = f\n\n    %b = g", "Words.\n\n```mlir\n%a = f\n\n%b = g\n```"),
        (
            "Words.\n\n%a, %b = tile.sort %x\n   : y\n}\nMore.",
            "Words.\n\n```mlir\n%a, %b = tile.sort %x\n   : y\n}\n```\n\nMore.",
        ),
        ("Words.\n\ntile.store %v, %x[%i] : t\nMore.", "Words.\n\n```mlir\ntile.store %v, %x[%i] : t\n```\n\nMore."),
        ("Words.\n\n\n\nMore.", "Words.\n\nMore."),
    ],
)
def test_lines_of_ir_are_code(doc: str | None, wanted: str) -> None:
    assert markdown(doc) == wanted


def test_a_summary_is_the_first_paragraph() -> None:
    assert summary("Words that\n    go on.\n\n    More.") == "Words that go on." and summary(None) == ""
