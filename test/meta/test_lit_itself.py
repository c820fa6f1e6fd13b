"""``lit test/lit`` works too: the format and the configuration are lit's, only the runner is shared."""

from __future__ import annotations

import os
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


CONFIGURATION = "from kopt.testing.lit import configure\n\nconfigure(config, __file__)\n"
TEST = """// RUN: kopt %s -p {pass_} | filecheck %s
// RUN: test -e %{{root}}/lit.cfg.py
// CHECK-NOT: arith.constant
func.func @f() {{
  %c = arith.constant 1 : i32
  func.return
}}
"""


def test_another_repository_imports_the_configuration(tmp_path: Path) -> None:
    """A folder with a configuration of two lines: what passes, what fails, what lacks a module, what checks nothing."""
    (tmp_path / "lit.cfg.py").write_text(CONFIGURATION)
    below = tmp_path / "passes"
    below.mkdir()
    (below / "right.mlir").write_text(TEST.format(pass_="dce"))
    (below / "wrong.mlir").write_text(TEST.format(pass_="name-accesses"))
    (below / "lacks.mlir").write_text("// REQUIRES: no_such_module\n" + TEST.format(pass_="dce"))
    (below / "vain.mlir").write_text("// RUN: kopt %s\n// CHECK: func\n")
    command = [sys.executable, "-c", "from lit.main import main; main()", "-v", "-j1", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(LIT.parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path, env=environment)
    name = tmp_path.name
    for outcome, file in (("PASS", "right"), ("FAIL", "wrong"), ("UNSUPPORTED", "lacks"), ("FAIL", "vain")):
        assert f"{outcome}: {name} :: passes/{file}.mlir" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1 and "no RUN line calls filecheck" in done.stdout
