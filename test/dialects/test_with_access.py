"""Accesses of other elements and lanes are otherwise as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt.parsing import parse_module
from kopt.walk import walk

FOLDER = Path(__file__).parents[1] / "lit" / "dialects"


@pytest.mark.parametrize("name", ["atomic", "tile-memory", "triton"])
def test_the_same_access_again(name: str) -> None:
    text = (FOLDER / f"{name}.mlir").read_text()
    module = parse_module("".join(line for line in text.splitlines(True) if not line.startswith("//")))
    ops = [op for op in walk(module) if hasattr(op, "with_access")]
    assert ops
    for op in ops:
        again = op.with_access(op.entries, op.mask)  # pyright: ignore
        assert type(again) is type(op) and list(again.operands) == list(op.operands), str(op)
        assert again.properties == op.properties and again.attributes == op.attributes
        assert [value.type for value in again.results] == [value.type for value in op.results]
