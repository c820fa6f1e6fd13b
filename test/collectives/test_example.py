"""The example of a program over a mesh."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "programs" / "mesh.py"


@pytest.mark.slow
def test_the_example_runs() -> None:
    """On four CPU devices, its kernels interpreted, beside torch."""
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"} | {"JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0 and "a layer on 4 devices is right" in done.stdout, done.stderr[-2000:]
