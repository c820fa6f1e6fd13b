"""Command lines of pages, run as in a shell where ``kopt`` and ``python`` are on the PATH."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

from kopt.tools.main import main

ROOT = Path(__file__).resolve().parents[2]
_TOOLS = {"kopt": "-m kopt.tools.main", "python": ""}


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line, from the root of the repository; ``folder`` holds the two programs.

    A command of kopt alone runs in this process: to start it takes longer than what it does. Another test starts it.
    """
    if line.startswith("kopt ") and not re.search(r"[|&;<>$]", line):
        return _here(shlex.split(line))
    for command, module in _TOOLS.items():
        (folder / command).write_text(f'#!/bin/sh\nexec {sys.executable} {module} "$@"\n')
        (folder / command).chmod(0o755)
    path = f"{folder}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    return subprocess.run(line, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120)


def _here(argv: list[str]) -> subprocess.CompletedProcess[str]:
    out, err = io.StringIO(), io.StringIO()
    with chdir(ROOT), redirect_stdout(out), redirect_stderr(err):
        try:
            code = main(argv[1:])
        except SystemExit as left:  # of argparse, which prints help
            code = int(left.code or 0)
    return subprocess.CompletedProcess(argv, code, out.getvalue(), err.getvalue())
