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
    apart = [_apart(*each) for each in zip(got, exact, rounded, strict=True)]
    return [f"result {number}: {far} apart" for number, far in enumerate(apart) if far]


def _apart(got: torch.Tensor, exact: torch.Tensor, rounded: torch.Tensor) -> float:
    """How far a result is from the exact one, where that is too far: beyond f32's largest number that is infinite."""
    wanted = exact.float()
    error, noise = (
        torch.where((each == wanted) | (each.isnan() & wanted.isnan()), 0.0, (each - wanted).abs())
        for each in (got, rounded)
    )
    allowed = 8 * noise + relative(BY_SPEC["f32"], 64) * (1 + wanted.nan_to_num(posinf=0.0, neginf=0.0).abs())
    return float(torch.where(error <= allowed, 0.0, error).max())


def test_infinite_beyond_f32() -> None:
    """What is finite in f64 alone is infinite in f32, and is no infinity of the other sign."""
    exact = torch.tensor([1e300, 1.0], dtype=torch.float64)
    assert _apart(torch.tensor([torch.inf, 1.0]), exact, exact.float()) == 0
    assert _apart(torch.tensor([-torch.inf, 1.0]), exact, exact.float()) == torch.inf
    assert _apart(torch.tensor([torch.inf, 1.5]), exact, exact.float()) == 0.5
