"""What torch stores of operators, in another process: exported programs, packages, graphs that it has compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

KERNELS = """
import torch, kopt, kopt.language as hl

@kopt.kernel(target="reference")
def scaled(x, by):
    out = torch.empty_like(x)
    for rows in hl.tile(x.size(0)):
        out[rows, :] = x[rows, :] * by
    return out

@kopt.kernel(target="reference")
def add_into(out, x):
    for rows in hl.tile(x.size(0)):
        out[rows, :] += x[rows, :]
"""

SAVE = """
from kernels_of_package import *

class Module(torch.nn.Module):
    def forward(self, x):
        y = x + 1
        add_into(y, x)
        return scaled(y, 3.0) + 1

program = torch.export.export(Module(), (torch.ones(6, 8),), dynamic_shapes=({0: torch.export.Dim("rows", min=2)},))
torch.export.save(program, "program.pt2")
torch._inductor.aoti_compile_and_package(program, package_path="package.pt2")
"""

LOAD = """
loads = [lambda: torch.export.load("program.pt2").module(), lambda: torch._inductor.aoti_load_package("package.pt2")]
for load in loads:
    try:
        load()
    except RuntimeError as error:
        print(error)
from kernels_of_package import *
scaled.operator("f32[6,8]", 3.0), add_into.operator("f32[6,8]", "f32[6,8]")
for load in loads:
    assert torch.equal(load()(torch.ones(4, 8)), torch.full((4, 8), 10.0))
"""


COMPILE = """
from kernels_of_package import *

@scaled.backward
@kopt.kernel(target="reference")
def backward(grad, by):
    out = torch.empty_like(grad)
    for rows in hl.tile(grad.size(0)):
        out[rows, :] = grad[rows, :] * (by + WRONG)
    return out

x = torch.ones(6, 8, requires_grad=True)
torch.compile(lambda x: scaled(x, 3.0), fullgraph=True)(x).backward(torch.ones(6, 8))
assert torch.equal(x.grad, torch.full((6, 8), 3.0 + WRONG))
"""


def run(folder: Path, text: str) -> str:
    """What a process prints that has a folder's modules and stored graphs."""
    paths = {"PYTHONPATH": f"{ROOT}:{folder}", "TORCHINDUCTOR_CACHE_DIR": str(folder / "stored")}
    (folder / "kernels_of_package.py").write_text(KERNELS)
    (folder / "script.py").write_text(f"import torch\n{text}")
    command = [sys.executable, "script.py"]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=300, cwd=folder, env={**os.environ, **paths}
    ).stdout


@pytest.mark.slow
def test_another_process_names_the_operators(tmp_path):
    """Without the operators torch says what it lacks: AOTInductor's packages call Python for them."""
    run(tmp_path, SAVE)
    program, package = run(tmp_path, LOAD).strip().splitlines()
    assert "error when deserializing" in program and "Could not find schema for kopt::" in package


@pytest.mark.slow
def test_stored_graphs_are_of_todays_backward(tmp_path):
    """A process that finds graphs of another finds those of its own backward, and the operators that are in them."""
    run(tmp_path, COMPILE.replace("WRONG", "1"))
    run(tmp_path, COMPILE.replace("WRONG", "0"))
