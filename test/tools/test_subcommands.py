"""Mistakes around Python kernels on the command line."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kopt.tools.main import main

FILE = """\
def identity(x):
    return x

def _private(x):
    return x
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with a few Python files."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"fine": FILE, "syntax": "x = (\n", "raises": "x = 1\ny = x / 0\n"}.items():
        Path(f"kernels_{name}.py").write_text(text)


HERE = "<command line>:1:"
MISTAKES = {
    "import kernels_fine.py:identty f32[4]": HERE
    + "13: error: 'kernels_fine.py' has no kernel 'identty'; did you mean 'identity'?",
    "import kernels_fine.py f32[4]": HERE + "13: error: which kernel of 'kernels_fine.py'? Write kernels_fine.py:NAME.",
    "import kernels_fine.py:identity": "error: 'identity' needs its arguments: tensors as",
    "import kernels_syntax.py:f f32[4]": "kernels_syntax.py:1:5: error: invalid Python: '(' was never "
    "closed [config]\nx = (\n    ^",
    "run kernels_raises.py:f f32[4]": "kernels_raises.py:2:1: error: importing the file raised ZeroDivisionError: "
    "division by zero [config]\ny = x / 0",
    "report nowhere.py:f f32[4]": HERE + "13: error: cannot read 'nowhere.py': No such file or directory",
    "report kernels_fine.py:identity f32[4] --target=pallas:v9": HERE + "47: error: unknown target 'pallas:v9'",
    "run kernels_fine.py:identity what": HERE
    + "35: error: 'what' is neither a tensor spec, a .npy file nor a Python literal",
    "run kernels_fine.py:identity f32[4] -c block_sizes": "error: config 'block_sizes' is not KEY=VALUE",
    "run --bogus kernels_fine.py:identity": HERE + "10: error: unrecognized arguments: --bogus",
}


@pytest.mark.parametrize("argv", MISTAKES)
def test_mistakes_are_errors(argv: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each with its place and exit code 1."""
    assert main(argv.split()) == 1
    out, err = capsys.readouterr()
    assert MISTAKES[argv] in err and "Traceback" not in err and not out


@pytest.mark.parametrize("command", ["import", "run", "report", "explain"])
def test_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each subcommand explains itself."""
    assert main([command, "--help"]) == 0
    assert f"usage: kopt {command}" in capsys.readouterr().out


SUMS = """\
import torch
import kopt.language as hl

def sums(x, offsets):
    out = torch.zeros([offsets.size(0) - 1, x.size(1)], dtype=x.dtype)
    for i in hl.grid(offsets.size(0) - 1):
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(offsets[i], offsets[i + 1]):
            acc = acc + x[k, :].sum(0)
        out[i, :] = acc
    return out
"""


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
@pytest.mark.parametrize("offsets", ["i32[9]", "offsets.npy"])
def test_a_report_goes_by_the_integers_of_files(offsets: str, capsys: pytest.CaptureFixture[str]) -> None:
    """And has no cycles without them."""
    Path("sums.py").write_text(SUMS)
    np.save("offsets.npy", np.arange(0, 513, 64, dtype=np.int32))
    assert main(["report", "sums.py:sums", "f32[512,256]", offsets, "--target", "pallas:v5e", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    reason = None if offsets.endswith(".npy") else "trips depend on what 'offsets' holds"
    assert found["cycles_reason"] == reason and (found["cycles"] is None) == (reason is not None)
