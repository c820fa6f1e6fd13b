"""A new user's path: `stranger.sh`, with the environment of the tests; ``make stranger`` makes one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("stranger.sh")
ROOT = SCRIPT.parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the path begins with a clone")
def test_the_walk(tmp_path):
    environment = {**os.environ, "PY": sys.executable, "TMPDIR": str(tmp_path)}
    done = subprocess.run(["sh", SCRIPT], env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert len(steps) >= 6 and "the walk is done" in done.stdout
    left = [path.name for path in tmp_path.iterdir() if not path.name.startswith("kopt-lit-")]  # lit's, for all runs
    assert left == []
