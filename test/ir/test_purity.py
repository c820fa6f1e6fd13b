"""The algebra stands on its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_algebra_imports_nothing_of_xdsl() -> None:
    modules = "kopt.ir.nearness, kopt.ir.widths, kopt.ir.evaluation, kopt.ir.launch_sizes"
    code = f"import sys, kopt.plans.plan, {modules}; print('xdsl' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout == "False\n", done.stderr
