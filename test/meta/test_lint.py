"""The commands of ``make lint`` find nothing. Here they share the processors with other tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RECIPE = re.compile(r"^lint:.*\n((?:\t.+\n)+)", re.MULTILINE)


def commands() -> list[str]:
    """The lines of the recipe."""
    found = RECIPE.search((ROOT / "Makefile").read_text())
    assert found is not None
    return [line.strip() for line in found[1].splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_it_finds_nothing(command: str) -> None:
    line = command.replace("$(PY)", f"'{sys.executable}'")
    done = subprocess.run(line, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
