"""No module of kopt imports itself by way of others: what cannot be read alone cannot be changed alone.

Imports inside functions count. Those under ``if TYPE_CHECKING:`` do not, but for a package's own, which it
loads by name. Which part may import which is a contract of import-linter's, in ``pyproject.toml``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Graph = dict[str, set[str]]


def imports(root: Path, package: str) -> Graph:
    """Which modules of a package each of them imports."""
    files = {_name(path.relative_to(root)): path for path in (root / package).rglob("*.py")}
    return {name: set(_imported(path, files.keys())) - {name} for name, path in files.items()}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, modules: object) -> Iterator[str]:
    skips = path.name != "__init__.py"
    for node in _nodes(ast.parse(path.read_text(encoding="utf-8")), skips):
        if isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path} imports relatively"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in modules else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _nodes(node: ast.AST, skips: bool) -> Iterator[ast.AST]:
    """A tree's nodes, with ``skips`` without those under ``if TYPE_CHECKING:``."""
    if skips and isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child, skips)


def circles(graph: Graph) -> set[frozenset[str]]:
    """The sets of modules of which each reaches each other."""
    reached = {name: _reached(graph, name) for name in graph}
    return {frozenset(n for n in reached[name] if name in reached[n]) for name in graph if name in reached[name]}


def _reached(graph: Graph, start: str) -> set[str]:
    found: set[str] = set()
    left = [start]
    while left:
        new = graph[left.pop()] & graph.keys() - found
        found |= new
        left += new
    return found


def test_no_circles() -> None:
    """A new circle is taken apart: the shared part moves below, or what is above registers with what is below."""
    assert [sorted(each) for each in circles(imports(ROOT, "kopt"))] == []


def test_circles_are_found(tmp_path: Path) -> None:
    """Through functions and packages that load by name; not through annotations."""
    package = tmp_path / "p"
    package.mkdir()
    facade = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p.c import x\n"
    texts = {
        "__init__": facade,
        "a": "import p.b",
        "b": "def f():\n    from p import a",
        "c": "from p import other",
        "d": facade + "    from p import a",
        "e": "import p.d",
    }
    for name, text in texts.items():
        (package / f"{name}.py").write_text(text)
    assert circles(imports(tmp_path, "p")) == {frozenset(("p.a", "p.b")), frozenset(("p", "p.c"))}
