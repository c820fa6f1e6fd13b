"""Programs of Helion kernels, unchanged: ``python -m kopt.helion program.py``."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from kopt.helion import __main__ as command
from kopt.helion import enabled

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
ROOT = HERE.parents[1]
NAMES = ("add", "softmax", "matmul", "jagged", "layer_norm", "cross_entropy", "bound")


@pytest.mark.slow
def test_programs_run(tmp_path: Path) -> None:
    """Each compares its results with torch's, prints that they are equal, and all that Helion's helpers print."""
    command = [
        sys.executable,
        "-m",
        "kopt.helion",
        "--target",
        "triton:interpret",
        str(HERE / "every.py"),
        str(tmp_path),
    ]
    command += [str(PROGRAMS / f"{name}.py") for name in NAMES]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert [line.split(":")[0].replace(" ", "_") for line in done.stdout.splitlines()] == list(NAMES)
    assert done.stderr.count("Benchmark Results") == 8
    remarks = [line for line in done.stderr.splitlines() if "remark: " in line]
    assert len(remarks) == len(set(remarks))
    keys = {found for line in remarks for found in re.findall(r"config key '(\w+)' has no effect", line)}
    assert keys == {"indexing", "reduction_loops"}


@pytest.mark.parametrize("name", ["cross_entropy", "bound"])
def test_programs_run_on_a_tpus_interpreter(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with enabled("pallas:interpret"):
        runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    assert ": equal" in capsys.readouterr().out


REFUSED = """
import helion, torch
import helion.language as hl

@helion.kernel()
def f(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = torch.linalg.det(x[i])
    return out

f(torch.ones(8, device="cuda"))
"""


def test_what_kopt_refuses_is_no_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """kopt's diagnostic, and the line of the program that called the kernel."""
    program = tmp_path / "program.py"
    program.write_text(REFUSED)
    assert command.main(["--target", "triton:interpret", str(program)]) == 1
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert re.search(r"program\.py:9:\d+: error: .*\n +out\[i\] = torch\.linalg\.det", said), said
    assert f"{program}:12: note: called here" in said
