"""Explanations that several tests look at, made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from kopt.explain import Asked, Compile, explanation
from kopt.lowered import Lowered
from kopt.targets.target import parse_target
from kopt.tools.subject import load_python_kernel

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

#: What is explained: an example's file and kernel, its arguments, a target.
SUBJECTS = {
    "softmax": ("softmax.py", "softmax", ["f32[64,256]"], "pallas:v6e"),
    "decomposed": ("softmax.py", "softmax_decomposed", ["f32[64,256]"], "pallas:v6e"),
    "matmul": ("matmul.py", "matmul", ["bf16[4096,4096]", "bf16[4096,4096]"], "pallas:v6e"),
    "attention": ("attention.py", "attention", ["bf16[2,1024,128]"] * 3, "pallas:v5e"),
    "triton": ("matmul.py", "matmul", ["bf16[4096,4096]", "bf16[4096,4096]"], "triton:sm90"),
    "pipeline": ("matmul.py", "matmul", ["bf16[4096,4096]", "bf16[4096,4096]"], "pallas:v5p"),
}
CONFIGS = {"pipeline": {"loop_type": "pipeline", "block_sizes": [512, 512, 512]}}

#: What a tuner says: predicted and measured times over two block sizes, one candidate that is refused.
TUNED = {
    "candidates": [
        {
            "config": {"block_sizes": [rows, columns], "loop_type": "grid"},
            "predicted_ms": 0.2 + 20 / rows + 30 / columns,
            "measured_ms": 0.25 + 25 / rows + 31 / columns if rows > 256 else None,
            "legal": not rows == columns == 128,
            "reason": None,
            "origin": "default" if rows == columns == 512 else "search",
            "tie": False,
        }
        for rows in (1024, 512, 256, 128)
        for columns in (2048, 512, 128)
    ]
}


@cache
def lowered_of(name: str) -> Lowered:
    """One of the subjects, lowered."""
    file, kernel, args, target = SUBJECTS[name]
    return load_python_kernel(str(EXAMPLES / file), kernel).lower(args, target, CONFIGS.get(name, {}))


@cache
def explanation_of(name: str) -> dict[str, Any]:
    """One of the subjects, explained."""
    return explanation(Compile.of(lowered_of(name)), Asked())


@pytest.fixture(scope="session")
def explained() -> Callable[[str], dict[str, Any]]:
    """The explanation of a subject by its name."""
    return explanation_of


@pytest.fixture(scope="session")
def lowered() -> Callable[[str], Lowered]:
    """A subject by its name, lowered."""
    return lowered_of


_REFUSED = """\
import torch
import kopt.language as hl


def doubles(x):
    out = torch.empty_like(x)
    for t in hl.tile(x.size(0)):
        out[t] = x[t] * 2
    return out
"""


@pytest.fixture(scope="session")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The explanation of a kernel that a pass refuses: no TPU computes in 64 bits."""
    path = tmp_path_factory.mktemp("refused") / "refused.py"
    path.write_text(_REFUSED)
    imported = load_python_kernel(str(path), "doubles").lower(["f64[64]"], "reference", {})
    return explanation(Compile.refused(imported, parse_target("pallas:v6e")), Asked(values=False))
