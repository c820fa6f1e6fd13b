"""Modules and files of kopt that pages and docstrings name are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MODULES = sorted((ROOT / "kopt").glob("**/*.py"))
#: What begins with ``kopt.`` and is no module: an attribute of IR, and a word that stands for any dialect.
OTHERS = {"kopt.interval", "kopt.dialects.canonicalization.DIALECT"}
#: A file that a page tells its reader to write.
WRITTEN = {"model.py"}


def is_there(name: str) -> bool:
    """Whether a dotted name is a module or package of kopt, or something in one."""
    path = ROOT.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    home = path.parent
    module = home / "__init__.py" if home.is_dir() else home.with_suffix(".py")
    return module.is_file() and re.search(rf"\b{path.name}\b", module.read_text()) is not None


def test_modules_by_their_dotted_names():
    named = {
        (text.name, name)
        for text in [*PAGES, *MODULES]
        for name in re.findall(r"`(kopt(?:\.\w+)+)[`(]", text.read_text())
    }
    assert len(named) > 100
    assert {(text, name) for text, name in named if name not in OTHERS and not is_there(name)} == set()


def test_files_by_their_paths():
    """A page about one package may leave out the package's own path."""
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[!.]*/**/*.py")]
    named = {(page.name, path) for page in PAGES for path in re.findall(r"`([\w/]+\.py)`", page.read_text())}
    own = {(page, path) for page, path in named if path not in WRITTEN and not path.startswith("xdsl/")}
    assert len(own) > 50
    assert {(page, path) for page, path in own if not any(file.endswith(f"/{path}") for file in files)} == set()
