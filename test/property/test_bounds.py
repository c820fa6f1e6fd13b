"""Random kernels in and out of bounds: every target gives what they mean, or says with one voice what is outside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import kopt
from test.property.bounds import BoundsProgram, bounds_program
from test.property.judge import module_of
from test.property.test_kernels import SEED

TARGETS = ("reference", "triton:interpret", "pallas:interpret", "pallas:strict")
FEW, MANY, EACH = 2, 4, 10
#: Between the kernels of one seed and the next.
_STRIDE = 20
#: What a TPU's lowering may refuse of kernels that are right.
_REFUSED = 0.1


@pytest.mark.parametrize("shard", range(FEW))
def test_some_kernels(shard: int, tmp_path: Path, record_property) -> None:
    """The first of them, so that each change is looked at."""
    _compare(shard, tmp_path, record_property, TARGETS[:2])


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(MANY))
def test_every_target_says_the_same(shard: int, tmp_path: Path, record_property) -> None:
    _compare(shard, tmp_path, record_property, TARGETS)


def _compare(shard: int, folder: Path, record_property, targets: tuple[str, ...]) -> None:
    record_property("KOPT_FUZZ_SEED", SEED)
    refused = 0
    for number in range(EACH):
        program = bounds_program((SEED * _STRIDE + shard) * EACH + number)
        found = {target: _outcome(program, target, folder) for target in targets}
        report = "\n".join([*map(str, found.items()), str(program.rows.tolist()), program.text])
        refused += "refused" in found.values()
        said = set(found.values()) - {"refused"}
        assert len(said) == 1 and not said & {"wrong", "nothing"}, report
    assert refused <= _REFUSED * EACH


def _outcome(program: BoundsProgram, target: str, folder: Path) -> str:
    """``right``, ``refused`` (by a lowering), or what is said to be outside, and where; without a block's numbers."""
    kernel = kopt.kernel(module_of(program.text, folder).kernel).on(target)
    try:
        got = kernel(torch.from_numpy(program.x.copy()), torch.from_numpy(program.rows.copy()))
    except (kopt.AccessError, kopt.ArgumentError) as error:
        place = error.location and (error.location.line, error.location.col)
        return f"{place}: {error.message.split(': lane')[0]}"
    except (kopt.LoweringError, kopt.UnsupportedError):
        return "refused"
    if program.expected is None:
        return "nothing"
    return "right" if np.array_equal(got.numpy(), program.expected) else "wrong"
