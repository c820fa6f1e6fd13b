"""Hooks of pre-commit run what is installed, and nothing of other repositories."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CONFIG = (ROOT / ".pre-commit-config.yaml").read_text()


def test_all_hooks_are_local():
    hooks = re.findall(r"^ +- id: (\S+)", CONFIG, re.MULTILINE)
    assert hooks == ["ruff", "ruff-format", "pyright"]
    assert re.findall(r"repo: (\S+)", CONFIG) == ["local"]
    assert re.findall(r"language: (\S+)", CONFIG) == ["system"] * len(hooks)


def test_entries_take_files():
    """On files of the repository, which pass."""
    entries = re.findall(r"entry: python (.*)", CONFIG)
    assert len(entries) == 3
    for entry in entries:
        options = ["--check"] if " format " in entry else []
        command = [sys.executable, *shlex.split(entry), *options, "kopt/errors.py"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
