"""What the host moves around a kernel: arrays that are laid out anew, padded, and sliced."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kopt.planning.at_sizes import AtSizes
from kopt.planning.blocks import Blocks
from kopt.planning.host_passes import host_bytes
from kopt.targets.chips import TPU_CHIPS
from test.planning.launches import matmul, matmul_plan

SIZES = {"b0": 256, "b1": 256, "b2": 512}
X, Y = 2 * 1024 * 2048, 2 * 2048 * 500


@pytest.mark.parametrize(
    ("kind", "views", "moved"),
    [
        ("grid", {}, 0),
        ("prefetch", {}, 2 * Y),  # padded
        ("grid", {"x": ("permute",)}, 2 * X),
        ("grid", {"x": ("slice",)}, X),  # only read
        ("prefetch", {"x": ("slice", "permute"), "y": ("cast",)}, 3 * X + 4 * Y),
    ],
)
def test_passes_over_arrays(kind: str, views: dict[str, tuple[str, ...]], moved: int) -> None:
    launch = AtSizes(matmul(1024, 2048, 500), SIZES, TPU_CHIPS["v6e"], {})
    plan = replace(matmul_plan(kind), views=views)
    assert host_bytes(launch, plan, Blocks(launch.model, plan, launch.sizes, launch.trips)) == moved
