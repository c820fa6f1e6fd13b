"""Docstrings of ops as Markdown."""

from __future__ import annotations

import pytest

from kopt.dialects.documentation import markdown, parts_of, summary
from kopt.dialects.host import AllocOp
from kopt.dialects.tile import DotOp, GridOp, LoadOp


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


@pytest.mark.parametrize(
    ("op", "wanted"),
    [
        (
            DotOp,
            "*operands: `lhs`, `rhs`, `acc`…; properties: `precision` (optional); results: `result`*",
        ),
        (AllocOp, "*properties: `fill` (optional), `id` (optional); results: `result`*"),
    ],
)
def test_parts_of_ops(op: type, wanted: str) -> None:
    """Those that may be missing, and those of which there may be several."""
    assert parts_of(op) == wanted
    for other in (LoadOp, GridOp):
        many = [name for name, _ in other.get_irdl_definition().operands if name in ("indices", "planned")]
        assert len(many) == 1 and f"`{many[0]}`…" in parts_of(other) and "operandSegmentSizes" not in parts_of(other)
