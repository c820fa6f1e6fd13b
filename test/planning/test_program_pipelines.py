"""Pipelines of host programs: where their memory is planned, and which kernels collectives become."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kopt.config import Config
from kopt.passes.pipelines import choosing, pipeline, program_pipeline
from kopt.programs import ProgramOptions
from kopt.targets.target import parse_target

MEMORY = ["symm-to-dps", "symm-place", "symm-propagate", "dce"]


def names(target: str, **options) -> list[str]:
    return [one.name for one in program_pipeline(parse_target(target), Config(), ProgramOptions(**options))]


@pytest.mark.parametrize(
    ("capture", "planned"),
    [
        (False, [*MEMORY, "plan-buffers"]),
        (True, ["host-to-dps", *MEMORY, "host-partition", "host-hoist-allocs", "plan-buffers"]),
    ],
)
def test_memory_is_planned_before_kernels_of_gpus_are_lowered(capture: bool, planned: list[str]) -> None:
    """Blocks are chosen first; behind the plan all is as it is for a kernel, but for what torch prints."""
    found, kernel = names("triton:sm90", capture=capture), pipeline(parse_target("triton:sm90"), Config())
    at = found.index(planned[0])
    assert found[at : at + len(planned)] == planned
    front = [one.name for one in choosing(parse_target("triton:sm90"), Config())]
    assert found[: len(front) + 2] == [*front, "verify-accesses", "verify-index-widths"]
    assert found[-3:] == ["verify-symm", "verify-triton", "verify-host"]
    assert found[at + len(planned) : -3] == [one.name for one in kernel][len(front) + 2 : -2]


@pytest.mark.parametrize(
    ("all_reduce", "ranks", "wanted"),
    [
        ("library", {"tp": 4}, []),
        ("one_shot", {}, []),
        ("one_shot", {"tp": 4}, [("one-shot", 4, "tp")]),
        ("ring", {"tp": 4, "dp": 2}, [("ring", 4, "tp"), ("ring", 2, "dp")]),
    ],
)
def test_collectives_become_kernels_on_tpus(all_reduce: str, ranks: Mapping[str, int], wanted: list) -> None:
    options = ProgramOptions(all_reduce=all_reduce, ranks=ranks)
    passes = program_pipeline(parse_target("pallas:v6e"), Config(), options)
    found = [(one.kind, one.ranks, one.group) for one in passes if one.name == "expand-collectives"]  # pyright: ignore
    assert found == wanted
    assert [one.name for one in passes][-3:] == ["verify-barriers", "verify-pallas", "verify-host"]
