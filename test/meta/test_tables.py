"""The tables of passes and dialects are complete, documented and tested."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from kopt.dialects import DIALECTS
from kopt.passes import PASSES
from kopt.registry import load

ROOT = Path(__file__).resolve().parents[2]
OURS = {name: path for name, path in PASSES.items() if path.startswith("kopt.")}
OUR_DIALECTS = {name: path for name, path in DIALECTS.items() if path.startswith("kopt.")}
# Words of registries' host names, spelt apart so that this file is no find of its own.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("crates", "io"))]


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_is_what_its_name_says(name: str) -> None:
    """The table's entry is a pass of that name, with an own docstring if it is ours."""
    pass_type = load(PASSES[name])
    assert issubclass(pass_type, ModulePass) and pass_type.name == name


@pytest.mark.parametrize("name", OURS)
def test_our_passes_are_documented_and_tested(name: str) -> None:
    """Each pass says what it does, and has a lit file of its name."""
    assert _own_doc(load(OURS[name])), f"pass '{name}' has no docstring"
    found = [path for path in (ROOT / "test" / "lit").rglob("*.mlir") if path.stem in (name, name.replace("-", "_"))]
    assert found, f"no lit file {name}.mlir"


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_is_what_its_name_says(name: str) -> None:
    """The table's entry is a dialect of that name."""
    dialect = load(DIALECTS[name])
    assert isinstance(dialect, Dialect) and dialect.name == name


@pytest.mark.parametrize("name", OUR_DIALECTS)
def test_our_dialects_are_documented(name: str) -> None:
    """Every module, operation and attribute of our dialects has a docstring of its own."""
    dialect = load(OUR_DIALECTS[name])
    missing = [thing.name for thing in (*dialect.operations, *dialect.attributes) if not _own_doc(thing)]
    assert not missing, f"without a docstring: {', '.join(missing)}"


def _own_doc(thing: type) -> str:
    """The docstring written for ``thing``: not inherited, and not what dataclasses make up."""
    doc = inspect.cleandoc(thing.__dict__.get("__doc__") or "")
    return "" if doc.startswith(f"{thing.__name__}(") else doc


def _sources() -> list[Path]:
    folders = ("kopt", "test", "examples", "benchmarks", "docs")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in paths if "__pycache__" not in path.parts] + [ROOT / "README.md", ROOT / "Makefile"]


def test_no_registry_host_is_named() -> None:
    """Where packages come from is the business of whoever installs them."""
    pattern = re.compile("|".join(map(re.escape, HOSTS)))
    named = [str(path) for path in _sources() if path.exists() and pattern.search(path.read_text(errors="ignore"))]
    assert not named
