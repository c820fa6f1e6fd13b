"""Each module of the index algebra, of the analyses and of planning is asked directly by some test."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("ir", "analysis", "planning")
#: Modules that no test imports. It may only shrink.
LEFT: frozenset[str] = frozenset()


def modules(root: Path) -> set[str]:
    """The modules that define a function or a class."""
    paths = [path for part in PARTS for path in (root / "kopt" / part).rglob("*.py")]
    return {
        ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in paths
        if _defines(path)
    }


def _defines(path: Path) -> bool:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return any(isinstance(node, kinds) for node in ast.parse(path.read_text(encoding="utf-8")).body)


def imported(root: Path) -> set[str]:
    """What the files of tests import, modules and names of them."""
    return {name for path in (root / "test").rglob("*.py") for name in _imported(path)}


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_each_module_has_units() -> None:
    """A new module comes with tests of what it promises."""
    assert sorted(modules(ROOT) - imported(ROOT) - LEFT) == []


def test_the_list_only_shrinks() -> None:
    """What is tested by now, or is gone, is not left."""
    assert sorted(LEFT - (modules(ROOT) - imported(ROOT))) == []


def test_modules_without_units_are_found(tmp_path: Path) -> None:
    """In functions of tests too; not packages that only name others."""
    files = {
        "kopt/ir/__init__.py": "from kopt.ir.a import f\n",
        "kopt/ir/a.py": "def f(): ...\n",
        "kopt/ir/b.py": "class B: ...\n",
        "kopt/planning/deep/c.py": "def g(): ...\n",
        "kopt/planning/constants.py": "ONE = 1\n",
        "test/test_some.py": "from kopt.ir import a\n\ndef test_it():\n    import kopt.planning.deep.c\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert modules(tmp_path) == {"kopt.ir.a", "kopt.ir.b", "kopt.planning.deep.c"}
    assert modules(tmp_path) - imported(tmp_path) == {"kopt.ir.b"}
