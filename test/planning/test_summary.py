"""The least times of a launch beside what is predicted of it."""

from __future__ import annotations

import pytest

from kopt.planning.items import Cost
from kopt.planning.summary import bound, floors, items
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
