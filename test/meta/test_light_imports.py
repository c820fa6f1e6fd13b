"""The IR tool starts quickly and stays light."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEAVY = ("torch", "jax", "triton", "helion")
HELP_LIMIT_S = 0.3
ATTEMPTS = 3

IR = "func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n"


def _run(code: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_pipeline_on_an_ir_file_imports_nothing_heavy(tmp_path: Path) -> None:
    """Importing kopt, every pass and dialect, and running a pipeline loads none of torch, jax, triton, helion."""
    path = tmp_path / "f.mlir"
    path.write_text(IR)
    out = _run(f"""
import sys, kopt
from kopt.tools.main import main
from kopt.registry import load
from kopt.passes import PASSES
from kopt.dialects import DIALECTS
for target in (*PASSES.values(), *DIALECTS.values()): load(target)
assert main([{str(path)!r}, "-p", "builtin.module(canonicalize,cse)"]) == 0
print("heavy:", [name for name in {HEAVY} if name in sys.modules])
""")
    assert "heavy: []" in out


def test_help_does_not_import_xdsl() -> None:
    """``kopt --help`` loads argparse and little else."""
    out = _run('import sys\nfrom kopt.tools.main import main\nmain(["--help"])\nprint("xdsl" in sys.modules)')
    assert out.endswith("False\n")


def test_help_is_immediate() -> None:
    """``kopt --help`` takes less than 0.3 s of processor time: of wall time too, where nothing else runs."""
    best = float("inf")
    for _ in range(ATTEMPTS):
        before = _children_seconds()
        _run('from kopt.tools.main import main\nmain(["--help"])')
        best = min(best, _children_seconds() - before)
    assert best < HELP_LIMIT_S


def _children_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
