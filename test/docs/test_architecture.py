"""docs/architecture.md answers questions with files and names: both are there, and most files can be guessed."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/architecture.md").read_text()
ROWS = re.findall(r"^\| ([^|]+\?) \| ([^|]+) \| ([^|]+) \|$", PAGE, re.MULTILINE)


def quoted(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def defined(path: Path) -> set[str]:
    """The public names at the top of a module."""
    body = ast.parse(path.read_text()).body
    return {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}


def words(text: str) -> set[str]:
    """Words of four letters or more; plurals and ``BlockSpec`` count as their parts."""
    return {word.lower().removesuffix("s") for word in re.findall(r"[A-Z]?[a-z]+", text) if len(word) > 3}


@pytest.mark.parametrize("question, files, names", ROWS)
def test_answers_are_there(question, files, names):
    paths = [ROOT / file for file in quoted(files)]
    assert all(path.is_file() for path in paths), question
    found = [defined(path) for path in paths]
    assert all(any(name in some for some in found) for name in quoted(names)), question
    assert all(some & set(quoted(names)) for some in found), f"{question}: a file that no name is from"


def test_most_files_can_be_guessed():
    guessed = [question for question, files, _ in ROWS if words(question) & words(Path(quoted(files)[0]).stem)]
    assert len(ROWS) >= 20 and len(guessed) >= 16, sorted({question for question, *_ in ROWS} - {*guessed})


@pytest.mark.parametrize("path", sorted(set(re.findall(r"`(kopt/[\w/]+\.py)`", PAGE))))
def test_files_that_are_named_exist(path):
    assert (ROOT / path).is_file()
