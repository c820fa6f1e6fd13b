"""Progress is for terminals: files and pipes see none of it."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from kopt.tools.main import main
from kopt.tools.progress import progress

ROOT = Path(__file__).resolve().parents[2]


def test_no_terminal_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("reports", 2) as step:
        step("first")
    assert capsys.readouterr() == ("", "")


@pytest.mark.skipif(find_spec("rich") is None, reason="rich is not installed")
def test_a_terminal_shows_the_step(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On stderr alone, and how many are done."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress("reports", 2) as step:
        step("first")
        step("second")
    out, err = capsys.readouterr()
    assert out == "" and "reports: second" in err and "1/2" in err


@pytest.mark.skipif(find_spec("rich") is None, reason="rich is not installed")
@pytest.mark.parametrize(
    "options, steps",
    [
        ("run {} --target reference --check", ["kopt run: check by the reference"]),
        ("{} -p cse,dce --verify-semantics -o -", ["passes: dce"]),
    ],
)
def test_checks_show_their_last_step(options, steps, capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert main(options.format(ROOT / "examples/ir/softmax.mlir").split()) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out and all(step in err for step in steps)
