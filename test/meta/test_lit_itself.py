"""``lit test/lit`` works too: the format and the configuration are lit's, only the runner is shared."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIT = Path(__file__).resolve().parents[1] / "lit"


def test_lit_runs_the_tests() -> None:
    """On one folder, since pytest runs them all."""
    command = [sys.executable, "-c", "from lit.main import main; main()", "-v", str(LIT / "cli" / "pipeline.mlir")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed: 1" in done.stdout
