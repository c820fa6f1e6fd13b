"""The lit format of kopt's tests: ``lit test/lit`` runs each file inside lit's worker."""

from __future__ import annotations

from pathlib import Path

import lit.Test
from kopt_lit import run_file
from lit.formats.base import FileBasedTest


class KoptFormat(FileBasedTest):
    """Runs a test by ``kopt_lit``."""

    def execute(self, test, litConfig):
        """Lit's entry point: the result code and the log."""
        outcome = run_file(Path(test.getSourcePath()))
        if outcome.missing is not None:
            return lit.Test.UNSUPPORTED, f"{outcome.missing} is not installed"
        return (lit.Test.FAIL if outcome.failed else lit.Test.PASS), outcome.log
