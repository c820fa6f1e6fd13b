"""Kernels that compute many calls at once, and what of their results is wrong."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

import kopt
from kopt.config import Config

_HEAD = "import torch\nimport torch.nn.functional as F\n\nimport kopt.language as hl\n\n\ndef kernel(a, b, c):\n"
#: How many calls a kernel has: XLA's time to compile more of them grows faster than their number.
_AT_ONCE = 40
#: Triton's interpreter takes its time for each program, however many lanes it has.
_LANES = 4096
_numbers = itertools.count()


def source(calls: Sequence[str], dtypes: Sequence[torch.dtype]) -> str:
    """A kernel of vectors ``x``, ``y`` and ``z``, as text."""
    made = [f"    out{n} = torch.empty(a.shape, dtype={dtype})" for n, dtype in enumerate(dtypes)]
    done = [f"        out{n}[i] = {call}" for n, call in enumerate(calls)]
    loop = ["    for i in hl.tile(a.size(0)):", "        x, y, z = a[i], b[i], c[i]"]
    results = ", ".join(f"out{n}" for n in range(len(calls)))
    return _HEAD + "\n".join([*made, *loop, *done, f"    return ({results},)"]) + "\n"


def compiled(text: str, folder: Path) -> Any:
    """The kernel of a text, from a file, so that errors show its lines."""
    path = folder / f"kernel{next(_numbers)}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def results(
    calls: Sequence[str],
    dtypes: Sequence[torch.dtype],
    operands: Sequence[torch.Tensor],
    target: str,
    folder: Path,
) -> list[torch.Tensor]:
    """What a target computes for each call."""
    found: list[torch.Tensor] = []
    config = Config(block_sizes=[_LANES]) if target.startswith("triton") else None
    for first in range(0, len(calls), _AT_ONCE):
        part = slice(first, first + _AT_ONCE)
        kernel = compiled(source(calls[part], dtypes[part]), folder)
        found += kopt.kernel(kernel, config=config).on(target)(*operands)
    return found
