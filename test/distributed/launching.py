"""Ranks of one machine under torchrun, ended with their launcher."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LIMIT_S = 240


def torchrun(ranks: int, script: str, *arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and errors of ranks that run a script, by its path from here; all of them end when the time is up."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(ranks)]
    command = [*launcher, str(Path(__file__).parent / script), *arguments]
    given = {**os.environ, **environment}
    quiet, pipe = subprocess.DEVNULL, subprocess.PIPE
    with subprocess.Popen(command, stdout=quiet, stderr=pipe, text=True, env=given) as process:
        try:
            _, errors = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()  # torchrun then ends its ranks; killed, it would leave them
            raise
    return process.returncode, errors
