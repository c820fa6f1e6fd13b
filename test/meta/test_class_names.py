"""One public class name means one thing: whoever reads `Place` need not ask which."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "kopt"

#: What several frontends give under one name, each in its own way: it is one thing to a kernel.
SHARED = {"BlockSize", "StackTensor", "Tile"}


def homes() -> dict[str, list[str]]:
    """The modules that define each public class; dialects have an op of one name each."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not node.name.endswith("Op"):
                found[node.name].append(str(path.relative_to(ROOT)))
    return found


def test_a_class_name_is_of_one_module():
    several = {name: paths for name, paths in homes().items() if len(paths) > 1}
    assert {name: several[name] for name in several.keys() - SHARED} == {}
