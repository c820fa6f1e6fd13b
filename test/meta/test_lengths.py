"""Files and functions stay short enough to be read at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import kopt

FILES = sorted(Path(kopt.__file__).parent.rglob("*.py"))
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60


def test_files_have_at_most_400_lines() -> None:
    lengths = {str(file): len(file.read_text().splitlines()) for file in FILES}
    assert {file: length for file, length in lengths.items() if length > MOST_LINES} == {}


def test_functions_have_at_most_60_lines() -> None:
    lengths = {f"{file}:{name}": length for file in FILES for name, length in _functions(file)}
    assert len(lengths) > 5000
    assert {name: length for name, length in lengths.items() if length > MOST_LINES_OF_A_FUNCTION} == {}


def _functions(file: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            yield node.name, node.end_lineno - node.lineno + 1
