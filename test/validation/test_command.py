"""The command names a pass that is wrong, and leaves a file that shows it again."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kopt.passes.cse import CsePass
from kopt.tools import CRASH_EXIT_CODE
from kopt.tools.main import main

from . import wrong_passes as wrong

ROW_SUM = Path(__file__).parent / "row_sum.mlir"


def test_a_changed_value_leaves_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is a bug, at the store, and the command in the file's first line finds it again."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(CsePass, "apply", wrong.DroppedStore.apply)
    assert main([str(ROW_SUM), "-p", "canonicalize,cse", "--verify-semantics"]) == CRASH_EXIT_CODE
    error = capsys.readouterr().err
    assert "row_sum.mlir:6:5: error: pass 'cse' changed what 'row_sum' computes: result 0[" in error
    assert "note: on input 0 of seed 0 (ordinary floats)" in error
    assert "wrote 'kopt-reproducer.mlir'" in error
    first = Path("kopt-reproducer.mlir").read_text().splitlines()[0]
    command = shlex.split(first.removeprefix("// "))
    assert command[:2] == ["kopt", "kopt-reproducer.mlir"]
    assert main(command[1:]) == CRASH_EXIT_CODE
    assert "pass 'cse' changed what 'row_sum' computes" in capsys.readouterr().err
