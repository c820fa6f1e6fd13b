"""The command line and the target ``eager``."""

from __future__ import annotations

import numpy as np
import pytest

import kopt.interpreter
from kopt.tools.main import main

SOFTMAX = "examples/softmax.py:softmax"
DROPOUT = """\
import torch
import kopt.language as hl


def kernel(x):
    for i in hl.tile(x.size(0)):
        x[i] = torch.rand_like(x[i]) * 0
"""


def test_run(capsys) -> None:
    assert main(["run", SOFTMAX, "f32[19,70]", "--target", "eager"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("eager: ") and "result 0: f32[19,70]" in out and not err


def test_checks_compare_with_the_kernels_python(capsys) -> None:
    assert main(["run", SOFTMAX, "f32[19,70]", "--target", "reference", "--check"]) == 0
    out = capsys.readouterr().out
    assert "agrees with the reference within" in out and "agrees with the kernel's Python within" in out


def test_a_mistake_that_the_reference_shares_is_found(capsys, monkeypatch) -> None:
    right = kopt.interpreter.run
    monkeypatch.setattr(kopt.interpreter, "run", lambda *args: [np.asarray(each) + 1 for each in right(*args)])
    assert main(["run", SOFTMAX, "f32[19,70]", "--target", "reference", "--check"]) == 1
    out, err = capsys.readouterr()
    assert "agrees with the reference" in out and "result 0 differs from the kernel's Python" in err


def test_what_python_cannot_stand_for_is_said(capsys, tmp_path) -> None:
    (tmp_path / "drawn.py").write_text(DROPOUT)
    assert main(["run", f"{tmp_path}/drawn.py:kernel", "f32[19]", "--target", "reference", "--check"]) == 0
    assert (
        "check: the kernel's Python is not compared: the target 'eager' has no 'rand_like'" in capsys.readouterr().out
    )


@pytest.mark.parametrize("command", ["import", "report"])
def test_there_is_nothing_to_lower(command: str, capsys) -> None:
    assert main([command, SOFTMAX, "f32[19,70]", "--target", "eager"]) == 1
    assert "the target 'eager' runs the kernel's Python; there is nothing to lower" in capsys.readouterr().err
