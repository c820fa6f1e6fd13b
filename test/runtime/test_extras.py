"""Packages that are not installed: the error says what to install, from Python and from the tool."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest

from kopt.runtime.extras import EXTRAS

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "jax", "jaxlib", "libtpu", "triton", "helion")

_WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in sys.argv[1].split(","):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)

sys.meta_path.insert(0, Missing())
"""

_TOOL = """
import json
from kopt.tools.main import main

for command in json.loads(sys.argv[2]):
    try:
        code = main(command)
    except SystemExit as end:
        code = end.code
    print(f"\\nexit {code or 0}", flush=True)
"""

_KERNEL = """
import kopt, kopt.language as hl
SOFTMAX = "examples/ir/softmax.mlir"
def doubled(x):
    out = x * 2
    return out
try:
    exec(sys.argv[2])
except kopt.KoptError as error:
    print(error)
"""


def without(missing: tuple[str, ...], folder: Path, program: str, *args: str) -> tuple[int, str]:
    """Exit code and output of a program in a Python that lacks packages."""
    file = folder / "program.py"
    file.write_text(_WITHOUT + program)
    command = [sys.executable, "-W", "ignore", str(file), ",".join(missing), *args]
    done = subprocess.run(command, stdout=PIPE, stderr=STDOUT, text=True, cwd=ROOT, env=_environment())
    assert "Traceback" not in done.stdout, done.stdout
    return done.returncode, done.stdout


def _environment() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": str(ROOT), "KOPT_TARGET": ""}


def test_the_extras_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == "kopt-compiler" and set(EXTRAS.values()) <= set(project["optional-dependencies"])


SOFTMAX = "examples/ir/softmax.mlir"


#: The package that a command lacks; None for those that need none.
COMMANDS = [
    (["--help"], None),
    ([SOFTMAX, "--pass-pipeline=builtin.module(canonicalize,insert-masks)"], None),
    (["run", SOFTMAX], None),
    (["run", SOFTMAX, "--target", "pallas:interpret"], "pallas"),
    (["run", SOFTMAX, "--target", "pallas:strict"], "pallas"),
    (["run", SOFTMAX, "--target", "pallas:v6e"], "pallas"),
    (["run", SOFTMAX, "--target", "triton:interpret"], "triton"),
    (["run", SOFTMAX, "--target", "triton:sm90"], "triton"),
    (["report", SOFTMAX, "--target", "pallas:v6e"], "tpu"),
    (["report", SOFTMAX, "--target", "triton:gfx942"], "triton"),
    (["report", SOFTMAX], "tpu"),
    (["import", "examples/softmax.py:softmax", "f32[8,8]"], "torch"),
]


def test_the_tool_says_what_to_install(tmp_path):
    """Commands one after the other in one process, whose imports are the time."""
    code, said = without(HEAVY, tmp_path, _TOOL, json.dumps([command for command, _ in COMMANDS]))
    assert code == 0, said
    parts = re.split(r"\nexit (\d+)\n", said)[:-1]
    found = list(zip(parts[::2], map(int, parts[1::2]), strict=True))
    assert len(found) == len(COMMANDS)
    for (text, status), (command, extra) in zip(found, COMMANDS, strict=True):
        hint = None if extra is None else f"pip install 'kopt-compiler[{extra}]'"
        assert status == 0 if hint is None else status == 1 and hint in text, f"{command}\n{text}"


@pytest.mark.parametrize(
    ("missing", "call", "extra"),
    [
        (HEAVY, "kopt.kernel(doubled).lower('f32[3,4]')", "torch"),
        (HEAVY, "kopt.lower_module(kopt.parse(open(SOFTMAX).read()), target='pallas:v6e').report()", "tpu"),
        (("jax",), "import numpy; kopt.kernel(doubled, target='pallas:interpret')(numpy.ones(3))", "pallas"),
        (("libtpu",), "kopt.kernel(doubled).lower('f32[8]', target='pallas:v6e').report()", "tpu"),
        (("triton",), "kopt.kernel(doubled, target='triton:interpret').lower('f32[8]').compile()('x')", "triton"),
    ],
)  # fmt: skip
def test_python_says_what_to_install(tmp_path, missing, call, extra):
    code, said = without(missing, tmp_path, _KERNEL, call)
    assert code == 0 and f"pip install 'kopt-compiler[{extra}]'" in said
