"""Random kernels over jagged storage: every target gives what torch gives item by item.

How far two right computations may differ is seen from torch's own in f32 and f64: a few times that far, besides f32's
last bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

import kopt
from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import relative
from test.property.jagged import jagged_program
from test.property.judge import module_of
from test.property.test_kernels import GIVEN, SEED

TARGETS = ("reference", "eager", "triton:interpret", "pallas:interpret")
#: How many tests there are, and how many kernels of them each runs: all where someone asks for a seed.
SHARDS, EACH, RUN = 5, 5, 5 if GIVEN else 1


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_target_is_torch(shard: int, tmp_path, record_property) -> None:
    """Sums and extremes over rows and features, passes that use what earlier ones gave, rows that are written."""
    record_property("KOPT_FUZZ_SEED", SEED)
    for number in range(RUN):
        compare((SEED * SHARDS + shard) * EACH + number, tmp_path, TARGETS)


def compare(number: int, folder: Path, targets: Sequence[str]) -> None:
    """One kernel on some targets."""
    text = jagged_program(number)
    module = module_of(text, folder)
    for target in targets:
        problems = _problems(module, kopt.kernel(module.kernel).on(target)(*module.inputs()))
        assert not problems, "\n".join([f"{target}: {problems[0]}", *problems, "", text])


def _problems(module, got: tuple[torch.Tensor, ...]) -> list[str]:
    exact = module.expected(*module.inputs(), torch.float64)
    rounded = module.expected(*module.inputs(), torch.float32)
    return [
        f"result {number}: {(one - two).abs().max()} apart"
        for number, (one, two, three) in enumerate(zip(got, exact, rounded, strict=True))
        if not ((one - two).abs() <= 8 * (two - three).abs() + relative(BY_SPEC["f32"], 64) * (1 + two.abs())).all()
    ]
