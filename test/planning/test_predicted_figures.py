"""What is predicted of the examples is as in ``test/golden/predicted``, which ``pytest --update-golden`` writes anew.

A file has the seconds of each unit for each launch, and every other choice that was looked at, with its seconds or why
it cannot be. Seconds have six digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from golden import differences

from examples.registry import BY_NAME, DTYPES
from kopt.planning.summary import items

from .predicting import predicted

TABLES = Path(__file__).parents[1] / "golden" / "predicted"
TARGETS = ("pallas:v6e", "pallas:v5p", "triton:sm90")


def digits(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.6g}")


def figures(name: str, target: str) -> dict[str, Any]:
    """Of an example in bf16, at the size of models."""
    low = BY_NAME[name].kernel.lower(*BY_NAME[name].unfilled("real", DTYPES["bf16"]), target=target)
    found, chip = predicted(low), low.target.chip
    assert chip is not None
    return {
        "seconds": digits(found.seconds),
        "assumes": dict(found.assumes),
        "launches": [{unit: digits(own) for unit, own in items(cost, chip).items()} for cost in found.costs],
        "choices": [[one.text, digits(one.seconds) if one.reason is None else one.reason] for one in found.changes],
    }


def file_of(name: str, target: str) -> Path:
    return TABLES / f"{name}-{target.partition(':')[2]}.json"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", BY_NAME)
def test_what_is_predicted_is_as_in_its_file(name: str, target: str, request: pytest.FixtureRequest) -> None:
    path, now = file_of(name, target), figures(name, target)
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(now, indent=1) + "\n")
    was = json.loads(path.read_text()) if path.exists() else {}
    assert [*differences(was, now)] == []


def test_every_file_is_compared() -> None:
    assert {*TABLES.iterdir()} == {file_of(name, target) for name in BY_NAME for target in TARGETS}
