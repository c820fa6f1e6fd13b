"""Emitted modules stand on their own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import kopt

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "examples" / "ir").glob("*.mlir"))
ALLOWED = {
    "pallas": {"__future__", "functools", "math", "jax", "numpy"},
    "triton": {"__future__", "math", "torch", "triton"},
}


@pytest.mark.parametrize("target", ["pallas:tpu7x", "triton:sm90"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_emitted_module_imports_its_framework_only(path: Path, target: str) -> None:
    """Neither kopt nor anything else that a user of the module may not have."""
    source = kopt.lower_module(kopt.parse(path.read_text(), path.name), target=target).source
    tree = ast.parse(source)
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= ALLOWED[target.partition(":")[0]]
