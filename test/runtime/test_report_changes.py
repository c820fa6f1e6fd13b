"""Two reports beside each other."""

from __future__ import annotations

from typing import Any

import pytest

from kopt.runtime.report_table import Report

OLD = Report(
    {"target": "pallas:v6e", "legal": True, "cycles": 100, "predicted_ms": 1.0, "bound": "HBM", "compile_s": 1.0}
)


def test_what_differs_is_a_line() -> None:
    """Old, new and the change of numbers; what differs from run to run is left out."""
    found = Report({**OLD, "cycles": 82, "bound": "MXU", "compile_s": 9.0, "next": [{"change": "x"}]}).compare(OLD)
    assert found.changes["cycles"] == {"old": 100, "new": 82, "change": -0.18}
    assert found.changes["bound"] == {"old": "HBM", "new": "MXU", "change": None}
    assert list(found.changes) == ["cycles", "bound", "next"] and not found.worse
    lines = str(found).splitlines()
    assert lines[0] == "pallas:v6e: no worse" and lines[1].split() == ["old", "new", "change"]
    assert lines[3].split() == ["cycles", "100", "82", "−18.0", "%"]
    assert len(lines) == 5  # lists are in `changes` alone


def test_nothing_differs() -> None:
    found = OLD.compare(OLD)
    assert str(found) == "pallas:v6e: nothing differs" and not found.changes


@pytest.mark.parametrize(
    ("new", "worse"),
    [
        ({"predicted_ms": 1.02}, False),
        ({"predicted_ms": 1.2}, True),
        ({"predicted_ms": 0.8, "cycles": 200}, False),
        ({"predicted_ms": None, "cycles": 200}, True),
        ({"predicted_ms": None, "cycles": None}, False),
        ({"legal": False, "predicted_ms": 0.5}, True),
        ({"legal": None}, False),
    ],
)
def test_what_is_worse(new: dict[str, Any], worse: bool) -> None:
    """A chip that refuses, or a longer time: the first that both know."""
    assert Report({**OLD, **new}).compare(OLD).worse == worse
