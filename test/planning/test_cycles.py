"""Cycles of the units of a TPU's core, which work side by side."""

from __future__ import annotations

import pytest

from kopt.planning.tpu_work import Cycles, next_wait
from kopt.targets.costs import CHAIN_CYCLES, FILLED_CYCLES


@pytest.mark.parametrize(
    ("cycles", "share", "wanted"),
    [
        (Cycles(vpu=8), 1.0, 8),
        (Cycles(vpu=8), 0.5, 16),
        (Cycles(vpu=8, eup=12), 0.5, 24),
        (Cycles(vpu=8, eup=2, xlu=20), 0.5, 20),
        (Cycles(mxu=100, carry=50, vpu=1), 1.0, 1),
    ],
)
def test_the_vector_units_wait_for_the_slowest(cycles: Cycles, share: float, wanted: float) -> None:
    assert cycles.vectors(share) == wanted


def test_cycles_add_up_unit_by_unit() -> None:
    assert Cycles(1, 2, 3, 4, 5) + Cycles(5, 4, 3, 2, 1) * 10 == Cycles(51, 42, 33, 24, 15)


@pytest.mark.parametrize(
    ("cycles", "wanted"),
    [
        (Cycles(mxu=1000, vpu=8), CHAIN_CYCLES / 2),
        (Cycles(mxu=1000, vpu=FILLED_CYCLES - 100), 100),
        (Cycles(mxu=1000, vpu=FILLED_CYCLES + 100), 0),
        (Cycles(mxu=8, vpu=16), 0),
    ],
)
def test_vector_work_fills_the_waits_of_visits_beside_it(cycles: Cycles, wanted: float) -> None:
    """Where products bound a visit; a few vectors leave half of the chain's latency."""
    assert next_wait(cycles) == wanted
