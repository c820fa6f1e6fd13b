"""Planned host programs give what torch's own collectives give, on several processes under torchrun."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import kopt
from kopt.lowering import emit
from kopt.passes.pipelines import HOST_PROGRAM

from . import programs, references
from .launching import torchrun

NAMES = [name for name in vars(references) if not name.startswith("_") and name not in ("annotations", "torch", "dist")]


def run(folder: Path, ranks: int, names: list[str], runs: int, barriers: str = "entry,exit") -> list[dict[str, int]]:
    """How many results of each program were wrong, by rank."""
    module = kopt.parse(programs.programs(ranks))
    kopt.run_pipeline(module, ",".join((*HOST_PROGRAM, "verify-symm")))
    for name in names:
        (folder / f"{name}.py").write_text(emit(module, name, "torch"))
    code, errors = torchrun(ranks, "rank.py", str(folder), barriers, str(runs), *names)
    assert code == 0, errors[:4000]
    return [json.loads((folder / f"wrong_{rank}.json").read_text()) for rank in range(ranks)]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 4])
def test_programs_are_right(ranks: int, tmp_path: Path) -> None:
    """Every way to place an array, on one rank and on several, in repeated calls."""
    assert run(tmp_path, ranks, NAMES, runs=5) == [dict.fromkeys(NAMES, 0)] * ranks


@pytest.mark.slow
def test_the_model_is_right_every_time(tmp_path: Path) -> None:
    """A hundred runs of eight layers in two buffers."""
    assert run(tmp_path, 3, ["model"], runs=100) == [{"model": 0}] * 3


@pytest.mark.slow
@pytest.mark.parametrize("barriers", ["entry", "exit"])
def test_each_barrier_is_needed(barriers: str, tmp_path: Path) -> None:
    """With either barrier alone, ranks read what others have not written yet, or have written again."""
    assert max(counts["model"] for counts in run(tmp_path, 2, ["model"], runs=20, barriers=barriers)) > 0
