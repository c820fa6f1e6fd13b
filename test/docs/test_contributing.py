"""The changes of CONTRIBUTING.md apply to the tree, and do what the page says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: What the changes are made to, and what their checks need.
COPIED = ("kopt", "test/lit", "test/conformance", "examples/ir", "docs/glossary.md")
_COMMANDS = {"kopt": "-m kopt.tools.main", "lit": "-c 'from lit.main import main; main()' -sv"}


def changes() -> dict[str, list[tuple[str, str]]]:
    """The blocks of each section that has a diff."""
    _, *sections = (ROOT / "CONTRIBUTING.md").read_text().split("\n## ")
    blocks = {section.partition("\n")[0]: _BLOCK.findall(section) for section in sections}
    return {title: found for title, found in blocks.items() if any(kind == "diff" for kind, _ in found)}


CHANGES = changes()


@pytest.fixture
def tree(tmp_path):
    """A copy of the tree."""
    for name in COPIED:
        source, copy = ROOT / name, tmp_path / "tree" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "Output"))
        else:
            shutil.copy(source, copy)
    return tmp_path / "tree"


def run(command: str, tree: Path, **options) -> None:
    """Runs a command in a tree, where ``kopt`` and ``lit`` are those of the tree."""
    folder = tree.parent / "bin"
    folder.mkdir(exist_ok=True)
    for name, arguments in _COMMANDS.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {sys.executable} {arguments} "$@"\n')
        (folder / name).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(tree), "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    done = subprocess.run(
        ["sh", "-ec", command], cwd=tree, env=environment, capture_output=True, text=True, timeout=120, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr


def as_command(kind: str, check: str, tree: Path) -> str:
    """What runs a check; programs are files, for kernels are read from these."""
    if kind == "python":
        (tree / "check.py").write_text(check)
    return f"{sys.executable} check.py" if kind == "python" else check


def test_the_page_has_all_changes():
    assert [*CHANGES] == [
        "Add a torch function",
        "Add an op",
        "Add a pass",
        "Add a kind of buffer",
        "Add a chip",
    ]


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the diffs")
@pytest.mark.parametrize("title", CHANGES)
def test_changes_apply_and_do_what_they_say(tree, title):
    (_, diff), *checks = CHANGES[title]
    assert checks
    run("git apply --whitespace=error -", tree, input=diff)
    for kind, check in checks:
        run(as_command(kind, check, tree), tree)


def test_the_check_of_a_chip_fails_without_it(tree):
    """So that it checks it; lit tests fail where there are none."""
    with pytest.raises(AssertionError, match="gfx1201"):
        run(as_command(*CHANGES["Add a chip"][1], tree), tree)
