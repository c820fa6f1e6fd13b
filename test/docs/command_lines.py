"""Command lines of pages, run as in a shell where ``kopt`` and ``python`` are on the PATH."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

from kopt.testing.runner import CommandResult, run_command

ROOT = Path(__file__).resolve().parents[2]
_TOOLS = {"kopt": "-m kopt.tools.main", "python": ""}


def run(line: str, folder: Path) -> CommandResult:
    """A line, from the root of the repository; ``folder`` holds the two programs.

    A command of kopt alone runs in this process, for starting one takes longer. `test_stranger` starts it.
    """
    if line.startswith("kopt ") and not re.search(r"[|&;<>$]", line):
        with chdir(ROOT):
            return run_command(shlex.split(line))
    for command, module in _TOOLS.items():
        (folder / command).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (folder / command).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(line, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)
    return CommandResult(done.returncode, done.stdout, done.stderr)
