"""Progress is for terminals: files and pipes see none of it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

from kopt.tools.progress import progress


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
