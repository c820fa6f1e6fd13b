"""The tutorials: notebooks that are valid, have no outputs in git, and whose cells run in order."""

from __future__ import annotations

import ast
import contextlib
import io
import linecache
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"
NOTEBOOKS = sorted(TUTORIALS.glob("*.ipynb"))


def cells(path: Path) -> list[Any]:
    return nbformat.read(path, as_version=4).cells


@pytest.fixture
def notebook_process(monkeypatch: pytest.MonkeyPatch):
    """What a notebook changes of its process is put back."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_initialized():
        distributed.destroy_process_group()


def run_cell(source: str, name: str, scope: dict[str, Any]) -> str:
    """Runs a cell as a notebook does: what it printed, and the value of its last line as HTML or text."""
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    body = ast.parse(source, name)
    last = body.body.pop() if isinstance(body.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(body, name, "exec"), scope)
        value = None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), scope)
    shown = "" if value is None else value._repr_html_() if hasattr(value, "_repr_html_") else repr(value)
    return printed.getvalue() + shown


def test_there_are_six():
    assert len(NOTEBOOKS) == 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_valid_and_without_outputs(path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    assert all(not cell.outputs and cell.execution_count is None for cell in book.cells if cell.cell_type == "code")
    pictures = [line for cell in book.cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    assert any(line.startswith("![") for line in pictures), "a tutorial has a picture"


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_run_in_order(path, notebook_process):
    scope: dict[str, Any] = {"__name__": "__main__"}
    shown = ""
    for number, cell in enumerate(cells(path)):
        if cell.cell_type == "code":
            shown += run_cell(cell.source, f"<{path.stem} cell {number}>", scope)
    assert "jax.experimental" in shown, "a tutorial shows the emitted module"
