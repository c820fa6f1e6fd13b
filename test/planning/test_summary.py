"""The least times of a launch beside what is predicted of it."""

from __future__ import annotations

import pytest

from kopt.planning.changes import OtherChoice
from kopt.planning.items import Cost
from kopt.planning.summary import GAIN, advice, bound, counted_around, floors, items, times, total_times
from kopt.targets.chips import GPU_CHIPS, TPU_CHIPS


@pytest.mark.parametrize(
    ("hbm", "products", "predicted", "wanted"),
    [
        (1e-3, 2e-3, 4e-3, (2.0, 1.0, 2.0, 0.5)),
        (3e-3, 2e-3, 4e-3, (3.0, 3.0, 2.0, 0.75)),
        (3e-3, None, 2e-3, (3.0, 3.0, None, 1.0)),
        (None, 1e-3, 3e-3, (1.0, None, 1.0, 0.3333)),
        (1e-3, None, None, (1.0, 1.0, None, None)),
        (1e-3, None, 0.0, (1.0, 1.0, None, None)),
        (None, None, 2e-3, (None, None, None, None)),
        (None, None, None, (None, None, None, None)),
    ],
)
def test_the_higher_floor_is_compared_with_what_is_predicted(hbm, products, predicted, wanted) -> None:
    assert tuple(floors(hbm, products, predicted).values()) == wanted


def test_what_is_not_known_of_a_launch_is_no_item() -> None:
    """Nor does it bound what is."""
    cost = Cost(seconds=2e-3, bytes_in=1e6, bytes_out=1e6, vpu_seconds=1e-3, overhead_seconds=1e-4)
    assert list(items(cost, TPU_CHIPS["v6e"])) == ["VPU", "HBM", "latency"]
    assert list(items(cost, GPU_CHIPS["sm90"])) == ["vector units", "HBM", "latency"]
    assert items(cost, TPU_CHIPS["v6e"])["latency"] == 1e-4
    assert bound([cost, cost], TPU_CHIPS["v6e"]) == "VPU" and bound([], TPU_CHIPS["v6e"]) is None
    assert items(Cost(bytes_in=1e6, vpu_seconds=1e-3), TPU_CHIPS["v6e"]) == {}
    assert items(Cost(seconds=2e-3, vpu_seconds=1e-3), TPU_CHIPS["v6e"]) == {}


def test_what_one_launch_takes() -> None:
    cost = Cost(seconds=2e-3, bytes_in=1e6, bytes_out=2e6, vpu_seconds=1e-3, exposed_seconds=1e-4)
    for chip in (TPU_CHIPS["v6e"], GPU_CHIPS["sm90"]):
        assert times(cost, chip) == total_times([cost], chip)
    assert times(cost, GPU_CHIPS["sm90"])["hbm_bytes"] == 3_000_000
    assert times(cost, GPU_CHIPS["sm90"])["exposed_ms"] == 0.1


@pytest.mark.parametrize(
    ("share", "wanted"),
    [
        (1.0, "a tie: ±0 %, less than the model can tell"),
        (1.02, "a tie: +2 %, less than the model can tell"),
        (0.98, "a tie: −2 %, less than the model can tell"),
        (1 + 2 * GAIN, "predicted +6 %"),
        (0.9, "predicted −10 %: a configuration asked for another, or the gain is within the model's error"),
    ],
)
def test_why_the_runner_up_lost(share: float, wanted: str) -> None:
    other = OtherChoice("loop k grid", seconds=share * 2e-3, searched=True)
    runner_up = advice([other], 2e-3)["runner_up"]
    assert runner_up["lost"] == wanted and runner_up["change"] == "loop k grid"
    assert runner_up["predicted_ms"] == pytest.approx(2 * share) and runner_up["gain"] == pytest.approx(share - 1)


def test_what_the_host_does_is_counted_once() -> None:
    """A launch's seconds have what the model knows of it; XLA's own estimate says what comes to that."""
    cost = Cost(seconds=5e-6, bytes_in=1e3, vpu_seconds=1e-6, overhead_seconds=1e-6, host_seconds=1e-6)
    assert counted_around([cost, cost, Cost(seconds=1e-6)]) == 2e-6
    found = total_times([cost], TPU_CHIPS["v6e"], 2e-6)
    assert found["predicted_ms"] == pytest.approx(7e-3) and found["items_ms"]["around"] == pytest.approx(3e-3)
