"""The language's names are Helion's, and both are recognised."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import kopt.language as hl
from kopt.frontend.language_calls import table

HELION = importlib.util.find_spec("helion")


def helion_names() -> set[str]:
    """What ``helion.language`` offers, read from its source: importing it takes seconds."""
    assert HELION is not None and HELION.origin is not None
    text = (Path(HELION.origin).parent / "language" / "__init__.py").read_text()
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom) and node.level == 1]
    return {alias.asname or alias.name for node in imports for alias in node.names if not alias.name.startswith("_")}


@pytest.mark.skipif(HELION is None, reason="Helion is not installed")
def test_same_names():
    missing = helion_names() - set(hl.__all__)
    assert not missing


def test_every_function_means_something():
    functions = {getattr(hl, name) for name in hl.__all__ if name[0].islower() and name != "constexpr"}
    assert not functions - set(table())


def test_the_language_is_light():
    code = "import sys, kopt.language, kopt.frontend; sys.exit(bool({'torch', 'jax', 'helion'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
