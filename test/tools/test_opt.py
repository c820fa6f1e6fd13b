"""The opt tool around passes that misbehave."""

from __future__ import annotations

from pathlib import Path

import pytest

from kopt.tools import CRASH_EXIT_CODE
from kopt.tools.main import main

pytestmark = pytest.mark.usefixtures("misbehaving")

IR = "func.func private @f()\n"


@pytest.fixture
def ir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small IR file in an own working directory."""
    monkeypatch.chdir(tmp_path)
    Path("f.mlir").write_text(IR)
    return "f.mlir"


def test_a_crash_leaves_a_reproducer(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The message names the pass, the bug and the file, which crashes in the same way."""
    assert main([ir, "-p", "cse,test-misbehave{how=crash}", "-o", "out.mlir"]) == CRASH_EXIT_CODE
    out, err = capsys.readouterr()
    assert "f.mlir:1:1: error: internal error in pass 'test-misbehave': ZeroDivisionError: a bug" in err
    assert "wrote 'kopt-reproducer.mlir'" in err and "Traceback" not in err
    assert not out and not Path("out.mlir").exists()
    first, *rest = Path("kopt-reproducer.mlir").read_text().splitlines()
    assert first == "// kopt kopt-reproducer.mlir '--pass-pipeline=cse,test-misbehave{how=crash}' -t mlir"
    assert IR.strip() in rest and any("ZeroDivisionError" in line for line in rest)
    assert main(["kopt-reproducer.mlir", "-p", "cse,test-misbehave{how=crash}"]) == CRASH_EXIT_CODE


def test_a_crash_is_no_diagnostic(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """``--verify-diagnostics`` cannot expect a bug."""
    Path(ir).write_text("// expected-error @+1 {{internal error}}\n" + IR)
    assert main([ir, "-p", "test-misbehave{how=crash}", "--verify-diagnostics"]) == CRASH_EXIT_CODE
    assert "internal error" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("refuse", "f.mlir:1:1: error: cannot lower this"),
        ("fail", "f.mlir:1:1: error: pass 'test-misbehave' failed: did not apply"),
        ("break", "error: operand #0 of 'test.op' is defined by an operation that is not in the module"),
    ],
)
def test_a_pass_that_fails_is_an_error(ir: str, how: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With a place, exit code 1, and no output."""
    assert main([ir, "-p", f"test-misbehave{{how={how}}}"]) == 1
    out, err = capsys.readouterr()
    assert message in err and not out and "Traceback" not in err


@pytest.mark.parametrize(("how", "code"), [("refuse", 1), ("break", 1), ("crash", CRASH_EXIT_CODE)])
def test_what_a_failing_pass_leaves_behind_is_printed(
    ir: str, how: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--mlir-print-ir-after-failure`` prints that IR alone, invalid as it may be, and before the error."""
    pipeline = f"cse,test-misbehave{{how={how}}}"
    assert main([ir, "-p", pipeline, "--verify-each", "--mlir-print-ir-after-failure"]) == code
    dump, _, error = capsys.readouterr().err.partition("error: ")
    assert dump.startswith("// -----// IR Dump After test-misbehave Failed //----- //\nbuiltin.module {\n")
    assert dump.count("IR Dump") == 1 and IR.split()[0] in dump and error
    assert ("test.op" in dump) == (how == "break")


def test_verify_each_names_the_pass(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The note says after which pass the module was invalid."""
    assert main([ir, "-p", "cse,test-misbehave{how=break},dce", "--verify-each"]) == 1
    assert "note: found after pass 'test-misbehave'" in capsys.readouterr().err


def test_warnings_are_shown_and_remarks_on_demand(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Remarks need ``--remarks``."""
    assert main([ir, "-p", "test-misbehave{how=say}"]) == 0
    assert capsys.readouterr().err == "f.mlir:1:1: warning: looks odd\n"
    assert main([ir, "-p", "test-misbehave{how=say}", "--remarks"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == "f.mlir:1:1: remark: was looked at"


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("// expected-warning @below {{looks odd}}\n", 0),
        ("// expected-warning @below {{looks odd}}\n// expected-remark @+1 {{was looked at}}\n", 0),
        ("// expected-remark @+1 {{was looked at}}\n", 1),
        ("// expected-warning @below {{looks odd}}\n// expected-remark @+1 {{something else}}\n", 1),
        ("// expected-warning @below {{looks odd}}\n// expected-note @+1 {{nothing}}\n", 1),
    ],
)
def test_expected_warnings_and_remarks(ir: str, expected: str, code: int) -> None:
    """Warnings have to be expected; remarks where the piece expects remarks."""
    Path(ir).write_text(expected + IR)
    assert main([ir, "-p", "test-misbehave{how=say}", "--verify-diagnostics"]) == code


def test_deep_nesting_is_an_error(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A thousand nested regions are refused before the parser recurses into them."""
    Path(ir).write_text('"test.op"() ({' * 1000 + "}) : () -> ()" * 1000)
    assert main([ir]) == 1
    assert "nested more than" in capsys.readouterr().err


def test_text_that_is_not_utf8_is_an_error(ir: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With the line of the first bad byte."""
    Path(ir).write_bytes(b"// fine\n// \xff\n")
    assert main([ir]) == 1
    assert "f.mlir:2:1: error: not UTF-8 text" in capsys.readouterr().err
