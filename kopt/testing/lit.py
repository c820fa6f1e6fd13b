"""The configuration of lit for tests of IR, which run inside lit's workers. All of a ``lit.cfg.py`` is

    from kopt.testing.lit import configure

    configure(config, __file__)

It needs the packages ``lit`` and ``filecheck``. Passes and dialects that a package adds by entry points are there.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import lit.Test
from lit.formats.base import FileBasedTest

from kopt.testing.runner import SUFFIXES, run_file


class KoptFormat(FileBasedTest):
    """Runs a test by `kopt.testing.runner`; ``root`` is the folder that ``%{root}`` stands for."""

    def __init__(self, root: Path):
        self.root = root

    def execute(self, test: Any, litConfig: Any) -> tuple[Any, str]:
        """Lit's entry point: the result code and the log."""
        outcome = run_file(Path(test.getSourcePath()), self.root)
        if outcome.missing is not None:
            return lit.Test.UNSUPPORTED, f"{outcome.missing} is not installed"
        return (lit.Test.FAIL if outcome.failed else lit.Test.PASS), outcome.log


def configure(config: Any, file: str, name: str | None = None, root: str | Path | None = None) -> None:
    """Sets up lit's ``config`` for the tests beside a configuration ``file`` and below.

    ``name`` is what lit calls the tests, the folder's by default; ``root`` what ``%{root}`` stands for in tests, that
    folder by default.
    """
    folder = Path(file).resolve().parent
    config.name = name or folder.name
    config.suffixes = list(SUFFIXES)
    config.test_format = KoptFormat(Path(root or folder))
    config.test_source_root = str(folder)
    # Tests run in folders of their own; lit keeps its record of their times here.
    records = Path(tempfile.gettempdir()) / f"kopt-lit-{config.name}"
    records.mkdir(exist_ok=True)
    config.test_exec_root = str(records)
