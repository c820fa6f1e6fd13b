"""Workers go on where the directory is gone in which they were started."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kopt.runtime.worker import stand_somewhere


def test_a_directory_that_is_gone_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    stand_somewhere()
    assert Path.cwd() == here
    here.rmdir()
    with pytest.raises(FileNotFoundError):
        os.getcwd()
    stand_somewhere()
    assert Path.cwd().is_dir()
